import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { wire } from '../../src/compose/wire.ts'
import { type Entry, mainstem } from '../../src/index.ts'
import { Handle } from '../../src/library/handle.ts'
import { AgentSession } from '../../src/library/session.ts'
import { MainstemError } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { recordedAgent } from '../../src/testing/index.ts'

const AGENTS = join(import.meta.dirname, '../../src/agents')

test('without a data directory, the sessions of this process are listed and can be opened', async () => {
  await using stem = mainstem()
  const first = await stem.session({ agent: 'echo', cwd: '/' })
  const second = await stem.session({ agent: 'echo', cwd: '/', keep: 'unread' })
  const records = await Array.fromAsync(stem.sessions())
  expect(records.map(({ id, status }) => ({ id, status }))).toEqual([
    { id: second.id, status: 'idle' },
    { id: first.id, status: 'idle' },
  ])
  // A copy: editing it changes no session.
  for (const record of records) record.policy.approval = 'auto-all'
  expect(await Array.fromAsync(stem.sessions(), ({ policy }) => policy.approval)).toEqual(['ask', 'ask'])
  const again = await stem.open(first.id)
  expect(await again.prompt('hello').result()).toMatchObject({ text: 'hello' })
  await first.close()
  expect((await Array.fromAsync(again.entries())).at(-1)?.event.type).toBe('session.ended')
})

test('two handles of a session evict only what both have read', async () => {
  await using stem = mainstem()
  const first = await stem.session({ agent: 'echo', cwd: '/', keep: 'unread' })
  const second = await stem.open(first.id)
  const slow = second.entries()
  await slow.next()
  for await (const _ of first.prompt('one'));
  const rest: Entry[] = []
  for await (const entry of slow) {
    rest.push(entry)
    if (entry.event.type === 'turn.completed') break
  }
  expect(rest.map(({ seq }) => seq)).toEqual([2, 3, 4])
})

test('a handle decides the requests that are open when it is created, and no earlier ones', async () => {
  const command = recordedAgent(join(AGENTS, 'claude/fixtures/claude/bidi_perm_deny'))
  await using stem = mainstem({ agents: { claude: { command } } })
  const session = await stem.session({ agent: 'claude', cwd: '/' })
  const turn = session.prompt('go')
  for await (const { event } of turn) if (event.type === 'request.opened') break
  const asked: (string | undefined)[] = []
  const onRequest = ({ title }: { title?: string | undefined }) => {
    asked.push(title)
    return { decision: 'deny' } as const
  }
  await stem.open(session.id, { onRequest })
  expect(await turn.result()).toMatchObject({ outcome: 'completed' })
  await stem.open(session.id, { onRequest })
  expect(asked).toEqual(['run a command'])
})

test('a session is opened with the output schema that it was started with', async () => {
  await using stem = mainstem({ agents: { claude: { command: ['/nonexistent/claude'] } } })
  const output = z.object({ answer: z.number() })
  const { id } = await stem.session({ agent: 'claude', cwd: '/', output })
  await expect(stem.open(id, { output: z.object({ other: z.string() }) })).rejects.toMatchObject({
    code: 'invalid_request',
    details: { field: 'output' },
  })
  expect(await stem.open(id, { output })).toMatchObject({ id })
})

test('a session accepts prompts again after its log could not be written for a while', async () => {
  const store = memoryStore()
  const append = store.append.bind(store)
  let isFull = false
  store.append = async (...batch) => {
    if (isFull) throw new MainstemError('storage_failed', 'the disk is full')
    await append(...batch)
  }
  const wired = wire({ settings: {}, store })
  onTestFinished(() => wired[Symbol.asyncDispose]())
  const { sessions } = wired
  const session = await sessions.create({ agent: 'echo', cwd: '/' })
  const { signal: closed } = new AbortController()
  const log = { session: session.id, retention: undefined }
  const handle = new Handle({ sessions, session, log, closed })
  const own = new AgentSession(handle, undefined, undefined, { requests: [], after: 0 })
  isFull = true
  const full = { code: 'storage_failed', message: 'the disk is full' }
  await expect(own.prompt('one').result()).rejects.toMatchObject(full)
  await expect(own.prompt('two').result()).rejects.toMatchObject(full)
  await expect(own.close()).rejects.toMatchObject(full)
  isFull = false
  expect(await own.prompt('three').result()).toMatchObject({ outcome: 'completed', text: 'three' })
  await own.close()
  await own.close()
  expect(await sessions.record(own.id)).toMatchObject({ status: 'ended' })
})
