import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { wire } from '../../src/compose/wire.ts'
import { HeldLogs } from '../../src/library/held-logs.ts'
import { AgentSession } from '../../src/library/session.ts'
import type { Turn } from '../../src/library/turn.ts'
import { DEFAULT_POLICY } from '../../src/model/index.ts'
import type { Sessions } from '../../src/sessions/sessions.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

async function isLetGo(sessions: Sessions, id: string): Promise<void> {
  const record = () => {
    collectGarbage()
    return sessions.record(id)
  }
  await expect.poll(record).toBeUndefined()
}

function house() {
  const wired = wire({ settings: {}, journal: false })
  onTestFinished(() => wired[Symbol.asyncDispose]())
  const { sessions } = wired
  const logs = new HeldLogs(sessions)
  return {
    sessions,
    async open(): Promise<AgentSession> {
      const session = await sessions.create({ agent: 'echo', cwd: '/', policy: DEFAULT_POLICY, options: {} })
      return new AgentSession(
        { sessions, session, hold: logs.hold(session.id), readers: undefined },
        undefined,
        undefined,
      )
    },
  }
}

test('the log of a session that ended is let go when nobody can ask for it any more', async () => {
  const { sessions, open } = house()
  const use = async () => {
    await using session = await open()
    await session.prompt('hello').result()
    return session.id
  }
  const id = await use()
  await isLetGo(sessions, id)
})

test('a turn that somebody holds can be read when its session has ended, as often as it is asked for', async () => {
  const { sessions, open } = house()
  const turns: Turn[] = []
  const use = async (kept: boolean) => {
    await using session = await open()
    const turn = session.prompt('hello')
    await turn.result()
    if (kept) turns.push(turn)
    return session.id
  }
  const kept = await use(true)
  // That of another one is let go meanwhile, so this one would have been.
  const other = await use(false)
  await isLetGo(sessions, other)
  expect(await sessions.record(kept)).toMatchObject({ status: 'ended' })
  const read = async () => (await Array.fromAsync(turns[0] ?? [])).map(({ event }) => event.type)
  expect(await read()).toEqual(['turn.started', 'text.completed', 'turn.completed'])
  expect(await read()).toHaveLength(3)
  turns.length = 0
  await isLetGo(sessions, kept)
})

test('a session that was not ended is not let go: its agent may be at work', async () => {
  const { sessions, open } = house()
  const use = async (end: boolean) => {
    const session = await open()
    await session.prompt('hello').result()
    if (end) await session[Symbol.asyncDispose]()
    return session.id
  }
  const left = await use(false)
  const ended = await use(true)
  await isLetGo(sessions, ended)
  expect(await sessions.record(left)).toMatchObject({ status: 'idle' })
})
