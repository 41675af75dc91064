import { describe, expect, test } from 'vitest'
import type { Session } from '../../../src/sessions/session.ts'
import { house } from '../house.ts'
import { PROTOCOLS, type Script } from './scripted-protocols.ts'

const GRACE_MS = 2_000

describe.each(PROTOCOLS)('%s', (_, protocol) => {
  async function open() {
    const made = house()
    const scripts: Script[] = []
    made.driver.onStart = (run) => scripts.push(protocol.script(run))
    const approval = protocol.agent === 'pi' ? 'auto-all' : 'ask'
    const session = await made.open({ approval }, { agent: protocol.agent })
    await session.prompt('prompt 1')
    const at = (index: number): Script => {
      const script = scripts[index]
      if (!script) throw new Error(`process ${index + 1} was not started`)
      return script
    }
    const prompted = (count: number, index = 0) => expect.poll(() => scripts[index]?.prompts).toBe(count)
    await prompted(1)
    return { ...made, session, at, prompted }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  function play(script: Script, prompt: number, text: string): void {
    script.begin(prompt)
    script.say(prompt, text)
    script.finish(prompt, text)
  }

  async function interrupt({ session, at }: Opened): Promise<{ done: Promise<void> }> {
    const done = session.interrupt()
    await expect.poll(() => at(0).interrupts).toBe(1)
    return { done }
  }

  /** What each turn says, with one end for each. */
  async function turns(opened: Opened, session: Session): Promise<unknown[]> {
    const entries = await opened.log(session)
    const ends = entries.flatMap(({ event }) => (event.type === 'turn.completed' ? [event] : []))
    return ends.map(({ turn, outcome }) => [
      turn,
      outcome,
      ...entries.flatMap((entry) =>
        entry.event.type === 'text.completed' && entry.turn === turn ? [entry.event.text] : [],
      ),
    ])
  }

  test('the end of a turn, repeated once the next prompt is sent, ends nothing', async () => {
    const opened = await open()
    const { session, at, prompted } = opened
    for (const turn of [1, 2, 3]) {
      if (turn > 1) {
        await session.prompt(`prompt ${turn}`)
        await prompted(turn)
        at(0).finish(turn - 1, `text ${turn - 1}`)
      }
      play(at(0), turn, `text ${turn}`)
      await session.settled(turn)
      at(0).finish(turn, `text ${turn}`)
    }
    expect(await turns(opened, session)).toEqual([
      [1, 'completed', 'text 1'],
      [2, 'completed', 'text 2'],
      [3, 'completed', 'text 3'],
    ])
  })

  test('an interrupt that is confirmed twice stops one turn', async () => {
    const opened = await open()
    const { session, at, prompted } = opened
    at(0).begin(1)
    const { done } = await interrupt(opened)
    at(0).acknowledge?.()
    at(0).stopped(1)
    await done
    await session.prompt('prompt 2')
    await prompted(2)
    at(0).acknowledge?.()
    at(0).stopped(1)
    play(at(0), 2, 'text 2')
    await session.settled(2)
    expect(await turns(opened, session)).toEqual([
      [1, 'interrupted'],
      [2, 'completed', 'text 2'],
    ])
  })

  test('an interrupt whose effect comes before its acknowledgement stops one turn', async () => {
    const opened = await open()
    const { session, at, prompted } = opened
    at(0).begin(1)
    const { done } = await interrupt(opened)
    at(0).stopped(1)
    await done
    await session.prompt('prompt 2')
    await prompted(2)
    at(0).acknowledge?.()
    play(at(0), 2, 'text 2')
    await session.settled(2)
    expect(await turns(opened, session)).toEqual([
      [1, 'interrupted'],
      [2, 'completed', 'text 2'],
    ])
  })

  test('an interrupt that is never confirmed ends the process, and the next turn has a new one', async () => {
    const opened = await open()
    const { session, at, prompted, time } = opened
    at(0).begin(1)
    const { done } = await interrupt(opened)
    await time.pass(GRACE_MS)
    await done
    await session.prompt('prompt 2')
    await prompted(1, 1)
    play(at(1), 1, 'text 2')
    await session.settled(2)
    expect(await turns(opened, session)).toEqual([
      [1, 'interrupted'],
      [2, 'completed', 'text 2'],
    ])
  })

  test('a turn that ends by itself while an interrupt is not acknowledged does not lend its process', async () => {
    const opened = await open()
    const { session, at, prompted, time, driver } = opened
    at(0).begin(1)
    at(0).say(1, 'text 1')
    const { done } = await interrupt(opened)
    at(0).finish(1, 'text 1')
    await done
    await session.prompt('prompt 2')
    const acknowledges = at(0).acknowledge !== undefined
    if (acknowledges) await time.pass(GRACE_MS)
    await prompted(acknowledges ? 1 : 2, acknowledges ? 1 : 0)
    expect(driver.runs).toHaveLength(acknowledges ? 2 : 1)
    play(acknowledges ? at(1) : at(0), acknowledges ? 1 : 2, 'text 2')
    await session.settled(2)
    expect(await turns(opened, session)).toEqual([
      [1, 'completed', 'text 1'],
      [2, 'completed', 'text 2'],
    ])
  })

  test('after a late confirmation, the next turn begins on the same process', async () => {
    const opened = await open()
    const { session, at, prompted, time, driver } = opened
    at(0).begin(1)
    at(0).say(1, 'text 1')
    const { done } = await interrupt(opened)
    at(0).finish(1, 'text 1')
    await done
    await session.prompt('prompt 2')
    await time.pass(GRACE_MS - 1)
    at(0).acknowledge?.()
    await prompted(2)
    play(at(0), 2, 'text 2')
    await session.settled(2)
    expect(driver.runs).toHaveLength(1)
    expect(await turns(opened, session)).toEqual([
      [1, 'completed', 'text 1'],
      [2, 'completed', 'text 2'],
    ])
  })
})
