import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { wire } from '../../src/compose/wire.ts'
import { Handle } from '../../src/library/handle.ts'
import { LogReferences } from '../../src/library/log-references.ts'
import { AgentSession } from '../../src/library/session.ts'
import type { Turn } from '../../src/library/turn.ts'
import { DEFAULT_POLICY } from '../../src/model/index.ts'
import type { Sessions } from '../../src/sessions/sessions.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

async function isDeleted(sessions: Sessions, id: string): Promise<void> {
  const record = () => {
    collectGarbage()
    return sessions.record(id)
  }
  await expect.poll(record).toBeUndefined()
}

function setUp() {
  const wired = wire({ settings: {}, journal: false })
  onTestFinished(() => wired[Symbol.asyncDispose]())
  const { sessions } = wired
  const logs = new LogReferences(sessions)
  return {
    sessions,
    async open(): Promise<AgentSession> {
      const session = await sessions.create({ agent: 'echo', cwd: '/', policy: DEFAULT_POLICY, options: {} })
      const { signal: closed } = new AbortController()
      const handle = new Handle({ sessions, session, log: logs.of(session.id), closed })
      return new AgentSession(handle, undefined, undefined, { requests: [], after: 0 })
    },
  }
}

test('the log of an ended session is deleted when its handles are garbage-collected', async () => {
  const { sessions, open } = setUp()
  const use = async () => {
    await using session = await open()
    await session.prompt('hello').result()
    return session.id
  }
  const id = await use()
  await isDeleted(sessions, id)
})

test('a turn that is still referenced can be read again after its session has ended', async () => {
  const { sessions, open } = setUp()
  const turns: Turn[] = []
  const use = async (kept: boolean) => {
    await using session = await open()
    const turn = session.prompt('hello')
    await turn.result()
    if (kept) turns.push(turn)
    return session.id
  }
  const kept = await use(true)
  // The log of another session is deleted meanwhile, so garbage collection has run.
  const other = await use(false)
  await isDeleted(sessions, other)
  expect(await sessions.record(kept)).toMatchObject({ status: 'ended' })
  const read = async () => (await Array.fromAsync(turns[0] ?? [])).map(({ event }) => event.type)
  expect(await read()).toEqual(['turn.started', 'text.completed', 'turn.completed'])
  expect(await read()).toHaveLength(3)
  turns.length = 0
  await isDeleted(sessions, kept)
})

test('the log of a session that has not ended is not deleted', async () => {
  const { sessions, open } = setUp()
  const use = async (end: boolean) => {
    const session = await open()
    await session.prompt('hello').result()
    if (end) await session[Symbol.asyncDispose]()
    return session.id
  }
  const left = await use(false)
  const ended = await use(true)
  await isDeleted(sessions, ended)
  expect(await sessions.record(left)).toMatchObject({ status: 'idle' })
})
