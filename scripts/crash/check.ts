import { DatabaseSync } from 'node:sqlite'
import type { Entry } from '../../src/model/index.ts'
import { violations } from '../../test/agents/invariants.ts'
import type { Load } from './load.ts'
import type { Reader } from './reader.ts'

/** What a run came to, counted from outside: by what readers were shown and what the files hold. */
export interface Findings {
  lost: string[]
  repeated: string[]
  terminals: string[]
}

/** The texts of every log as they are in the file, behind the store's back; by session, in order. */
export function logsIn(database: string): Map<string, string[]> {
  using db = new DatabaseSync(database, { readOnly: true })
  const logs = new Map<string, string[]>()
  const rows = db.prepare(
    'SELECT s.id, l.body FROM log l JOIN session s ON s.n = l.session ORDER BY s.n, l.first',
  )
  for (const { id, body } of rows.iterate()) {
    const log = logs.get(String(id)) ?? []
    log.push(...String(body).split(',\n'))
    logs.set(String(id), log)
  }
  return logs
}

export function check(load: Load, logs: ReadonlyMap<string, readonly string[]>): Findings {
  const findings: Findings = { lost: [], repeated: [], terminals: [] }
  for (const reader of load.readers) checkReader(reader, logs, findings)
  for (const key of load.broken) findings.repeated.push(`${key} stands for two sessions`)
  const asked = load.conversations.length + load.tasks.length
  if (logs.size > asked) findings.repeated.push(`${asked} sessions were asked for, there are ${logs.size}`)
  if (logs.size < asked) findings.lost.push(`${asked} sessions were asked for, there are ${logs.size}`)
  for (const [session, texts] of logs) {
    const entries: Entry[] = texts.map((text) => JSON.parse(text))
    findings.terminals.push(...violations(entries).map((problem) => `${session}: ${problem}`))
  }
  checkPrompts(load, logs, findings)
  return findings
}

function checkReader(reader: Reader, logs: ReadonlyMap<string, readonly string[]>, findings: Findings): void {
  const { name, shown, repeated, forgotten } = reader
  if (forgotten !== undefined) findings.lost.push(forgotten)
  if (repeated > 0) findings.repeated.push(`${name} was shown ${repeated} messages twice`)
  const log = logs.get(name.split(' ')[1] ?? '')
  if (!log) return
  for (const [id, text] of shown) {
    if (log[Number(id) - 1] !== text) findings.lost.push(`${name} was shown ${id}: ${text}`)
  }
  // It has read to the end, so it must have seen all there is.
  if (shown.size !== log.length)
    findings.lost.push(`${name} was shown ${shown.size} of ${log.length} entries`)
}

/** What was promised is one turn with one end; what was not promised is at most that. */
function checkPrompts(
  { prompts }: Load,
  logs: ReadonlyMap<string, readonly string[]>,
  findings: Findings,
): void {
  const turns = new Map<string, string[]>()
  const ends = new Map<string, number>()
  for (const [session, texts] of logs) {
    for (const { event } of texts.map((text): Entry => JSON.parse(text))) {
      const place = 'turn' in event ? `${session} ${event.turn}` : ''
      if (event.type === 'turn.completed') ends.set(place, (ends.get(place) ?? 0) + 1)
      if (event.type !== 'turn.started' && event.type !== 'turn.queued') continue
      const found = turns.get(event.prompt ?? '') ?? []
      if (!found.includes(place)) turns.set(event.prompt ?? '', [...found, place])
    }
  }
  for (const { text, session, turn } of prompts) {
    const places = turns.get(text) ?? []
    if (places.length > 1) findings.repeated.push(`${text} is in ${places.join(' and ')}`)
    if (session === undefined) continue
    const place = `${session} ${turn}`
    if (places[0] !== place) findings.lost.push(`${text} was promised as ${place}, and is in ${places[0]}`)
    if (ends.get(place) !== 1) findings.terminals.push(`${place} ended ${ends.get(place) ?? 0} times`)
  }
}
