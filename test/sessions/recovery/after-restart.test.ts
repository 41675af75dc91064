import { describe, expect, test } from 'vitest'
import { claude } from '../../../src/agents/claude/agent.ts'
import type { Policy } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { FakeTime } from '../fake-driver.ts'
import { asks, house, init, result, said } from '../house.ts'
import { onDisk } from '../log/fillable-store.ts'
import { LeftRunDriver } from './left-run-driver.ts'

const { live } = claude.launches
if (!live) throw new Error('claude has a live launch')
const leaving = { ...claude, launches: { ...claude.launches, live: { ...live, leavesTools: true as const } } }

type House = ReturnType<typeof houseAt>

function houseAt(time: FakeTime, driver: LeftRunDriver, store = memoryStore()) {
  driver.machine.now = time.now
  const made = house(store, { known: [leaving], time, driver })
  return { ...made, driver }
}

/** A session with an open turn whose agent has said something. */
async function working(policy: Partial<Policy> = {}) {
  const made = houseAt(new FakeTime(), new LeftRunDriver())
  const session = await made.open(policy)
  await session.prompt('go')
  const run = await made.driver.run()
  run.say(init, said('one'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  return { ...made, session, run }
}

/** The next owner, after the first one did nothing any more for a while. */
async function restarted({ driver, store, time }: House, downMs = 0) {
  const later = new FakeTime()
  later.now = time.now + downMs
  const next = houseAt(later, new LeftRunDriver(driver.machine), store)
  await next.sessions.recover()
  const run = next.driver.runs[0]
  if (!run) throw new Error('the run was not continued')
  return { ...next, run }
}

async function outcomes({ log }: House, id: string) {
  const session = { id }
  const entries = await log(session as Parameters<typeof log>[0])
  return entries.flatMap(({ event }) => (event.type === 'turn.completed' ? event : []))
}

describe('after a restart', () => {
  test('a turn continues', async () => {
    const before = await working()
    const after = await restarted(before)
    after.run.say(said('two', 'msg_2'), result('two'))
    await expect.poll(() => outcomes(after, before.session.id)).toMatchObject([{ outcome: 'completed' }])
  })

  test('a turn that cannot be continued names the reason, also if the first server dies before it is logged', async () => {
    const before = await working()
    const disk = { full: true, refused: 0 }
    onDisk(before.store, disk)
    const failing = () => {
      const driver = new LeftRunDriver(before.driver.machine)
      driver.attach = () => {
        throw new Error('it was cut short')
      }
      return houseAt(new FakeTime(), driver, before.store)
    }
    await expect(failing().sessions.recover()).rejects.toMatchObject({ code: 'storage_failed' })
    disk.full = false
    const after = failing()
    await after.sessions.recover()
    expect(await outcomes(after, before.session.id)).toMatchObject([
      { outcome: 'lost', error: { message: 'the agent could not be continued: it was cut short' } },
    ])
    expect(before.driver.machine.runs.size).toBe(0)
  })

  test('an interrupt that had begun ends the tools of its turn', async () => {
    const before = await working()
    void before.session.interrupt()
    await expect.poll(() => before.run.input).toContain('"subtype":"interrupt"')
    const ended: number[] = []
    const after = await restarted(before)
    Object.assign(after.run, {
      endTools: async (since: number) => {
        ended.push(since)
        return []
      },
    })
    const id = /"request_id":"(c\d+)","request":\{"subtype":"interrupt"/.exec(before.run.input)?.[1]
    const response = { subtype: 'success', request_id: id, response: {} }
    after.run.say({ type: 'control_response', response }, result('one'))
    // The turn began with its process, so all programs that left its session are tools of it.
    await expect.poll(() => ended).toEqual([0])
  })

  test('the time limit of a turn continues with the time that has passed', async () => {
    const before = await working({ timeoutMs: 60_000 })
    const after = await restarted(before, 40_000)
    await after.time.pass(19_000)
    expect(after.run.input).toBe('')
    await after.time.pass(1_000)
    await expect.poll(() => after.run.input).toContain('"subtype":"interrupt"')
    await after.time.pass(2_000)
    await expect.poll(() => outcomes(after, before.session.id)).toMatchObject([{ outcome: 'timeout' }])
  })

  test('silence continues, also over several restarts', async () => {
    const before = await working({ idleTimeoutMs: 100_000 })
    const second = await restarted(before, 40_000)
    const third = await restarted(second, 40_000)
    await third.time.pass(19_000)
    expect(third.run.input).toBe('')
    await third.time.pass(1_000)
    await expect.poll(() => third.run.input).toContain('"subtype":"interrupt"')
    await third.time.pass(2_000)
    await expect.poll(() => outcomes(third, before.session.id)).toMatchObject([{ outcome: 'timeout' }])
  })

  test('silence is reported when it is due, and not again for what was reported before', async () => {
    const before = await working()
    const notices = async (made: House) =>
      (await made.store.read(before.session.id, 0, 1000)).flatMap(({ event }) =>
        event.type === 'notice.raised' && event.code === 'agent_silent' ? event.message : [],
      )
    const second = await restarted(before, 50_000)
    await second.time.pass(9_000)
    expect(await notices(second)).toEqual([])
    await second.time.pass(1_000)
    await expect.poll(() => notices(second)).toEqual(['no output from claude for 60 s'])
    const third = await restarted(second, 20_000)
    await third.time.pass(39_000)
    expect(await notices(third)).toHaveLength(1)
    await third.time.pass(1_000)
    await expect.poll(() => notices(third)).toHaveLength(2)
  })

  test('output from the time without a server is read before a limit ends the turn', async () => {
    const before = await working({ timeoutMs: 60_000, idleTimeoutMs: 60_000 })
    const after = await restarted(before, 600_000)
    await after.time.pass(4_000)
    after.run.say(result('one'))
    await expect.poll(() => outcomes(after, before.session.id)).toMatchObject([{ outcome: 'completed' }])
  })

  test('a process that does not start ends when its time is over', async () => {
    const made = houseAt(new FakeTime(), new LeftRunDriver())
    const session = await made.open()
    await session.prompt('go')
    await made.driver.run()
    const after = await restarted(made, 100_000)
    await after.time.pass(19_000)
    expect(after.run.stops).toBe(0)
    await after.time.pass(1_000)
    expect(after.run.stops).toBe(1)
    await expect.poll(() => outcomes(after, session.id)).toHaveLength(1)
  })

  test.each<[string, LeftRunDriver['doubt'] & object]>([
    ['again, because the agent counts it once', { doubtful: 1 }],
    ['not again, because the agent may have a half of it', { doubtful: 1, isTorn: true }],
  ])('an answer whose server died within its write is written %s', async (_, doubt) => {
    const before = await working()
    before.run.say(asks('r1'))
    await expect.poll(() => before.session.record?.requests.length).toBe(1)
    before.driver.doubt = doubt
    const [request] = before.session.record?.requests ?? []
    if (!request) throw new Error('there is a request')
    const { requestId, inputDigest } = request
    await before.session.answer({ type: 'answer', requestId, inputDigest, decision: 'allow' })
    const after = await restarted(before)
    if (!doubt.isTorn) {
      await expect.poll(() => after.run.input).toContain('"behavior":"allow"')
      after.run.say(result('done'))
      await expect.poll(() => outcomes(after, before.session.id)).toMatchObject([{ outcome: 'completed' }])
      return
    }
    await expect.poll(() => outcomes(after, before.session.id)).toMatchObject([{ outcome: 'lost' }])
    const [{ error } = {}] = await outcomes(after, before.session.id)
    expect(error?.message).toContain('the server ended while it wrote to the agent')
    expect(after.run.input).toBe('')
    expect(after.run.stops).toBe(1)
  })
})
