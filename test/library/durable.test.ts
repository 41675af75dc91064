import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/mainstem-client.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { type Entry, type Mainstem, mainstem } from '../../src/index.ts'

const AGENT = fileURLToPath(new URL('../fake-agents/node-claude.mjs', import.meta.url))
const PROGRAM = fileURLToPath(new URL('./durable-program.ts', import.meta.url))

let home = ''
let data = ''
let lives = ''
let child: ChildProcess | undefined
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'durable-'))
  data = join(home, 'data')
  lives = join(home, 'lives')
})
afterEach(async () => {
  await killed()
  rmSync(home, { recursive: true, maxRetries: 3 })
})

const open = (): Mainstem =>
  mainstem({ data, agents: { claude: { command: [process.execPath, AGENT, lives] } } })

function start(role: string): AsyncIterableIterator<string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  child = spawn(process.execPath, [PROGRAM, role, data, AGENT, lives], {
    env: { PATH, NODE_COMPILE_CACHE, HOME: home, TMPDIR: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (!child.stdout) throw new Error('stdout is a pipe')
  return createInterface(child.stdout)[Symbol.asyncIterator]()
}

async function killed(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const livesOf = (): { event: string; pid: number; prompt?: string }[] =>
  existsSync(lives)
    ? readFileSync(lives, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The entries of a log up to the first that `last` accepts. */
async function until(entries: AsyncIterable<Entry>, last: (entry: Entry) => boolean): Promise<Entry[]> {
  const read: Entry[] = []
  for await (const entry of entries) {
    read.push(entry)
    if (last(entry)) break
  }
  return read
}

const typesOf = (entries: readonly Entry[]) => entries.map(({ event }) => event.type)
const isEndOf = (turn: number) => (entry: Entry) =>
  entry.event.type === 'turn.completed' && entry.event.turn === turn

test('a program that is killed during a turn loses nothing, and the next one reopens its session', async () => {
  const seen: Entry[] = []
  for await (const line of start('work')) {
    seen.push(JSON.parse(line))
    const types = typesOf(seen)
    if (types.includes('request.opened') && types.includes('turn.queued')) break
  }
  const [agent] = livesOf()
  await killed()

  await using stem = open()
  const [record, ...others] = await Array.fromAsync(stem.sessions())
  expect(others).toEqual([])
  expect(record).toMatchObject({ agent: 'claude', status: 'idle', lastOutcome: 'lost', requests: [] })
  expect(record?.queue).toMatchObject([{ turn: 2, prompt: 'queued' }])
  // Listing has ended the agent of the killed program and started none.
  await expect.poll(() => isAlive(agent?.pid ?? 0)).toBe(false)
  expect(livesOf().filter(({ event }) => event === 'started')).toHaveLength(1)

  const id = record?.id ?? ''
  const log = await until(stem.entries(id), isEndOf(1))
  expect(log.slice(0, seen.length)).toEqual(seen)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  expect(typesOf(log.slice(-2))).toEqual(['request.withdrawn', 'turn.completed'])
  expect(log.at(-1)?.event).toMatchObject({ outcome: 'lost', error: { code: 'connection_failed' } })

  const asked: unknown[] = []
  const session = await stem.open(id, {
    onRequest: (request) => {
      asked.push(request)
      return { decision: 'deny' }
    },
  })
  const rest = await until(session.entries({ after: log.length }), isEndOf(2))
  expect(rest[0]?.seq).toBe(log.length + 1)
  expect(rest.at(-1)?.event).toMatchObject({ outcome: 'completed', result: 'queued' })
  expect(asked).toEqual([])
  expect(await session.prompt('more').result()).toMatchObject({ outcome: 'completed', text: 'more' })
  expect(await session.prompt('ask again').result()).toMatchObject({ text: 'answered' })
  expect(asked).toHaveLength(1)
})

test('sessions stay open when the program closes the library, and end when it closes them', async () => {
  const first = mainstem({ data })
  const [kept, ended] = [
    await first.session({ agent: 'echo', cwd: '/' }),
    await first.session({ agent: 'echo', cwd: '/' }),
  ]
  await kept.prompt('one').result()
  await ended.prompt('two').result()
  await ended.close()
  await first.close()

  await using second = mainstem({ data })
  const statuses = await Array.fromAsync(second.sessions(), ({ id, status }) => [id, status])
  expect(Object.fromEntries(statuses)).toEqual({ [kept.id]: 'idle', [ended.id]: 'ended' })
  const again = await second.open(kept.id)
  expect(await again.prompt('three').result()).toMatchObject({ outcome: 'completed', text: 'three' })
  const turns = await until(again.entries({ after: 1 }), isEndOf(2))
  expect(turns.map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6, 7])
  await expect(second.open(ended.id)).rejects.toMatchObject({ code: 'conflict' })
  expect(typesOf(await Array.fromAsync(second.entries(ended.id))).at(-1)).toBe('session.ended')
  await second.delete(ended.id)
  expect(await Array.fromAsync(second.sessions(), ({ id }) => id)).toEqual([kept.id])
  const gone = { code: 'session_not_found' }
  await expect(second.open(ended.id)).rejects.toMatchObject(gone)
  await expect(second.entries(ended.id).next()).rejects.toMatchObject(gone)
  await expect(second.delete(ended.id)).rejects.toMatchObject(gone)
})

test('a server on the directory serves the sessions of the program', async () => {
  const stem = mainstem({ data })
  const { id } = await stem.session({ agent: 'echo', cwd: '/' })
  await stem.close()
  const environment = { MAINSTEM_HOME: home }
  const config = await loadConfig({ flags: { port: 0, data, auth: false }, environment, cwd: home })
  const server = await serve({
    config,
    report: (thrown) => {
      throw thrown
    },
  })
  try {
    const client = new MainstemClient({ baseUrl: server.url })
    expect(await client.session(id)).toMatchObject({ id, agent: 'echo', status: 'idle' })
  } finally {
    await server.stop()
  }
})

test('a second process on the directory is refused, and the error names the first', async () => {
  await start('hold').next()
  await using stem = open()
  const refused = stem.session({ agent: 'echo', cwd: '/' })
  await expect(refused).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringContaining(`process ${child?.pid} has this store open`),
    details: { locked: true, advice: expect.stringContaining('another data directory') },
  })
  await expect(stem.sessions().next()).rejects.toMatchObject({ code: 'storage_failed' })
})

test('a second library in the same process is refused', async () => {
  await using first = open()
  await Array.fromAsync(first.sessions())
  await using second = open()
  await expect(second.sessions().next()).rejects.toThrow(/this process has this store open/)
})

test('a program that does not close the library ends by itself', async () => {
  const lines = start('list')
  expect(await lines.next()).toMatchObject({ value: '{"ids":[]}' })
  if (child?.exitCode === null) await once(child, 'exit')
  expect(child?.exitCode).toBe(0)
})

test('closing the library ends its readers without an error, and refuses commands', async () => {
  const stem = mainstem({ data })
  const session = await stem.session({ agent: 'echo', cwd: '/' })
  const readings = [Array.fromAsync(session.entries()), Array.fromAsync(stem.entries(session.id))]
  await session.prompt('hello').result()
  await Promise.all([stem.close(), stem.close()])
  await Promise.all(readings)
  await expect(session.prompt('late').result()).rejects.toMatchObject({ code: 'conflict' })
  await expect(stem.open(session.id)).rejects.toMatchObject({ code: 'conflict' })
  await session.close()
})

test("keep: 'unread' is refused, because it would delete entries from the disk", async () => {
  await using stem = mainstem({ data })
  const refused = stem.session({ agent: 'echo', cwd: '/', keep: 'unread' })
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: { field: 'keep' } })
})

test('a path that is not a directory is refused', async () => {
  await using stem = mainstem({ data: PROGRAM })
  await expect(stem.session({ agent: 'echo', cwd: '/' })).rejects.toMatchObject({ code: 'storage_failed' })
  expect(() => mainstem({ data: '' })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})
