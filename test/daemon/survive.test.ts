import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Host } from '../../faults/crash/host.ts'
import { ndjson, polling, socket, sse } from '../../faults/crash/protocols.ts'
import { Reader } from '../../faults/crash/reader.ts'
import type { Entry, SessionRecord } from '../../src/model/index.ts'
import { MAIN } from '../built-program.ts'
import { killLeft } from '../drivers/fake-run.ts'
import { someOf } from '../long.ts'

const AGENTS = [
  ['claude', 'live'],
  ['codex', 'live'],
  ['gemini', 'live'],
  ['pi', 'live'],
  ['opencode', 'live'],
  ['acp', 'live'],
  ['claude', 'oneshot'],
] as const

let home = ''
let host: Host
let headers: Record<string, string>
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'survive-')))
  host = await Host.create(home, { program: 'serve', drainMs: 50, main: MAIN })
  headers = [...host.principals.values()][0] ?? {}
  await host.start()
})
afterEach(async () => {
  host.signal('SIGTERM')
  await host.exited()
  const left = host.agentProcesses()
  killLeft(left.map((one) => Number.parseInt(one, 10)))
  rmSync(home, { recursive: true, maxRetries: 3 })
  expect(left).toEqual([])
})

async function call(route: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await host.call(route, body, headers)
  if (!answer || answer.status >= 400) throw new Error(`${route}: ${JSON.stringify(answer)}`)
  return answer.body
}

async function begin(agent: string, launch: string, prompt: string): Promise<string> {
  const { id } = await call('POST /v1/sessions', { agent, launch, cwd: home })
  await call(`POST /v1/sessions/${id}/turns`, { prompt })
  return String(id)
}

async function record(id: string): Promise<SessionRecord> {
  return JSON.parse(JSON.stringify(await call(`GET /v1/sessions/${id}`)))
}
async function log(id: string): Promise<Entry[]> {
  const { entries } = await call(`GET /v1/sessions/${id}/events?limit=1000`)
  return JSON.parse(JSON.stringify(entries))
}

const textOf = (entries: readonly Entry[]) =>
  entries.flatMap(({ event }) => (event.type === 'text.delta' ? event.text : [])).join('')
const outcomes = (entries: readonly Entry[]) =>
  entries.flatMap(({ event }) => (event.type === 'turn.completed' ? event.outcome : []))

async function replace(signal: 'SIGKILL' | 'SIGHUP'): Promise<void> {
  host.signal(signal)
  await host.exited()
  await host.start()
}

/** Follows a session over all lives of the server, with its cursor. */
function follow(session: string, n: number): Reader {
  const protocol = [sse, ndjson, polling, socket][n % 4] ?? sse
  return new Reader(host, { name: `reader of ${session}`, headers, protocol: protocol(session) })
}

const KILLED = ['killed', 'SIGKILL'] as const
const RESTARTED = ['restarted', 'SIGHUP'] as const

test.each(
  someOf(
    [
      [KILLED, RESTARTED],
      [RESTARTED, KILLED],
    ] as const,
    1,
  ).map(([first, second]) => [first[0], second[0], first[1], second[1]] as const),
)(
  'agents of every protocol work on while their server is %s as they speak and %s as they ask, and nothing is missing',
  async (_first, _second, asTheySpeak, asTheyAsk) => {
    const ids = await Promise.all(
      AGENTS.map(([agent, launch], n) => begin(agent, launch, `p${n} slow say ask say`)),
    )
    const readers = ids.map(follow)
    const spoke = async (id: string) => textOf(await log(id)) !== ''
    await expect.poll(async () => Promise.all(ids.map(spoke)), { timeout: 60_000 }).not.toContain(false)
    await replace(asTheySpeak)
    const asking = async (id: string) => {
      const { requests, status } = await record(id)
      return requests.length > 0 || status === 'idle'
    }
    await expect.poll(async () => Promise.all(ids.map(asking)), { timeout: 60_000 }).not.toContain(false)
    await replace(asTheyAsk)
    for (const id of ids) {
      for (const { requestId, inputDigest } of (await record(id)).requests)
        await call(`POST /v1/sessions/${id}/requests/${encodeURIComponent(requestId)}`, {
          decision: 'allow',
          inputDigest,
        })
    }
    const done = async (id: string) => (await record(id)).status
    await expect
      .poll(async () => Promise.all(ids.map(done)), { timeout: 60_000 })
      .toEqual(ids.map(() => 'idle'))
    for (const [n, id] of ids.entries()) {
      const entries = await log(id)
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      expect(outcomes(entries)).toEqual(['completed'])
      const whole = Array.from({ length: 24 }, (_, piece) => `p${n}.${piece} `).join('')
      expect(textOf(entries)).toBe(whole)
      const shown = () => [...(readers[n]?.shown.keys() ?? [])].map(Number)
      await expect.poll(shown, { timeout: 60_000 }).toEqual(entries.map(({ seq }) => seq))
      expect(readers[n]?.repeated).toBe(0)
    }
  },
  180_000,
)

test('a turn whose agent was killed with its server is lost, with everything that the agent wrote', async () => {
  const id = await begin('claude', 'live', 'p slow say hang')
  await expect.poll(async () => textOf(await log(id)), { timeout: 60_000 }).toContain('p.2')
  host.signal('SIGKILL')
  await host.exited()
  killLeft(host.agentProcesses().map((one) => Number.parseInt(one, 10)))
  await host.start()
  await expect.poll(async () => outcomes(await log(id)), { timeout: 60_000 }).toEqual(['lost'])
  const entries = await log(id)
  const notices = entries.flatMap(({ event }) => (event.type === 'notice.raised' ? event.message : []))
  expect(notices).toEqual([
    'The server was restarted while claude worked. It reads on where it stopped, and no output is missing.',
  ])
  const last = entries.at(-1)?.event
  expect(last).toMatchObject({ error: { message: 'the agent ended while no server was running' } })
}, 120_000)

test('an interrupt and a queued prompt work after a restart', async () => {
  const id = await begin('codex', 'live', 'p slow say hang')
  await expect.poll(async () => textOf(await log(id)), { timeout: 60_000 }).toContain('p.2')
  await call(`POST /v1/sessions/${id}/turns`, { prompt: 'q say' })
  await replace('SIGKILL')
  await call(`POST /v1/sessions/${id}/interrupt`, {})
  await expect
    .poll(async () => outcomes(await log(id)), { timeout: 60_000 })
    .toEqual(['interrupted', 'completed'])
}, 120_000)
