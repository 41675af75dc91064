import { type Entry, isDamaged } from '../../src/model/index.ts'
import type { JournalFrame, Store } from '../../src/stores/store.ts'
import { check } from '../check/check.ts'
import type { Findings } from '../check/findings.ts'
import { readHistories } from '../fakes/history.ts'
import type { Host } from './host.ts'
import { type Load, SECRET } from './load.ts'
import type { Reader } from './reader.ts'
import type { Storage } from './storage.ts'

type Logs = ReadonlyMap<string, readonly string[]>

/** Checks everything that a load left behind. The server must be down. `mayLose` says which turns may be lost, by why. */
export async function checkLoad(
  host: Pick<Host, 'storage' | 'histories'>,
  load: Load,
  found: Findings,
  mayLose: (why: string) => boolean = () => false,
): Promise<number> {
  const logs = await host.storage.logs()
  const journals = await journalsIn(host.storage, [...logs.keys()], found)
  const { history, client } = load
  for (const reader of load.readers) checkReader(reader, logs, history.deleted, found)
  for (const reader of load.allEvents) reader.check(logs, (session) => load.principalOf(session), found)
  found.add('repeated', ...client.broken)
  found.add('principal', ...load.seen)
  const created = load.conversations.filter(({ session = '' }) => !history.deleted.has(session)).length
  const asked = created + load.tasks.length
  if (logs.size !== asked)
    found.add(
      logs.size > asked ? 'repeated' : 'lost',
      `${asked} sessions were created, there are ${logs.size}`,
    )
  const parsed = new Map<string, Entry[]>()
  for (const [session, texts] of logs)
    parsed.set(
      session,
      texts.map((text): Entry => JSON.parse(text)),
    )
  for (const [session, entries] of parsed) found.add('turns_lost', ...lostTurns(session, entries, mayLose))
  check(
    {
      logs: parsed,
      journals,
      histories: readHistories(host.histories),
      clients: history,
      secrets: new Map([[SECRET, `[masked ${SECRET.length}]`]]),
    },
    found,
  )
  return [...logs.values()].reduce((sum, log) => sum + log.length, 0)
}

/** Agents that end with their server, so that their open turns are lost. */
const ENDING: readonly string[] = ['echo live', 'echo oneshot']

/** The turns that a crash of the server ended, although their agents outlive it. */
function lostTurns(session: string, entries: readonly Entry[], mayLose: (why: string) => boolean): string[] {
  const first = entries[0]?.event
  if (first?.type !== 'session.started' || ENDING.includes(`${first.agent} ${first.launch}`)) return []
  return entries.flatMap(({ seq, event }) =>
    event.type === 'turn.completed' && event.outcome === 'lost' && !mayLose(event.error?.message ?? '')
      ? [`${session} (${first.agent} ${first.launch}), ${seq}: ${event.error?.message}`]
      : [],
  )
}

async function journalsIn(
  storage: Storage,
  sessions: readonly string[],
  found: Findings,
): Promise<Map<string, JournalFrame[]>> {
  await using store = await storage.open()
  const journals = new Map<string, JournalFrame[]>()
  for (const session of sessions) {
    const frames: JournalFrame[] = []
    journals.set(session, frames)
    try {
      for await (const page of journalOf(store, session)) frames.push(...page)
    } catch (thrown) {
      if (!isDamaged(thrown, session)) throw thrown
      found.add('journal', String(thrown))
    }
  }
  return journals
}

async function* journalOf(store: Store, session: string): AsyncGenerator<readonly JournalFrame[]> {
  for (let after = 0; ; ) {
    const page = await store.readJournal(session, after, 1_000)
    if (page.length === 0) return
    yield page
    after = page.at(-1)?.frame ?? after
  }
}

function checkReader(reader: Reader, logs: Logs, deleted: ReadonlySet<string>, found: Findings): void {
  const { name, shown, repeated, forgotten } = reader
  const session = name.split(' ')[1] ?? ''
  if (forgotten !== undefined && !deleted.has(session)) found.add('lost', forgotten)
  if (repeated > 0) found.add('repeated', `${name} was shown ${repeated} messages twice`)
  const log = logs.get(session)
  if (!log) return
  for (const [id, text] of shown) {
    if (log[Number(id) - 1] !== text) found.add('lost', `${name} was shown ${id}: ${text}`)
  }
  // It has read to the end, so it must have seen all there is.
  if (shown.size !== log.length) found.add('gap', `${name} was shown ${shown.size} of ${log.length} entries`)
}
