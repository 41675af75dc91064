import { describe, expect, test } from 'vitest'
import { PROTOCOLS } from '../machine/scripted-protocols.ts'
import { type Protocol, Story, settled } from './story.ts'

/** A prompt that waits in the queue, two interrupts of which the agent obeys one, and a change of the model. */
const STEPS: readonly [name: string, step: (story: Story) => unknown][] = [
  ['begin', (story) => story.begin()],
  ['prompt 1', (story) => story.prompt('prompt 1')],
  ['turn 1 begins', ({ script }) => script.begin(1)],
  ['text 1', ({ script }) => script.say(1, 'text 1')],
  ['prompt 2 waits', (story) => story.prompt('prompt 2')],
  ['turn 1 ends', ({ script }) => script.finish(1, 'text 1')],
  ['turn 2 begins', ({ script }) => script.begin(2)],
  ['text 2', ({ script }) => script.say(2, 'text 2')],
  ['interrupt', (story) => story.interrupt()],
  ['turn 2 stops', ({ script }) => script.stopped(2)],
  ['the interrupt is confirmed', ({ script }) => script.acknowledge?.()],
  ['prompt 3', (story) => story.prompt('prompt 3')],
  ['turn 3 begins', ({ script }) => script.begin(3)],
  ['text 3', ({ script }) => script.say(3, 'text 3')],
  ['turn 3 ends', ({ script }) => script.finish(3, 'text 3')],
  ['prompt 4', (story) => story.prompt('prompt 4')],
  ['turn 4 begins', ({ script }) => script.begin(4)],
  ['the model is changed', (story) => story.setModel('another')],
  ['interrupt of turn 4', (story) => story.interrupt()],
  ['turn 4 ends as if it was not interrupted', ({ script }) => script.finish(4, 'text 4')],
  ['the model is changed again', (story) => story.setModel('a third one')],
  ['the agent exits', (story) => story.exit()],
  ['prompt 5', (story) => story.prompt('prompt 5')],
]

/** Plays the steps, and replaces the server after these. */
async function played(protocol: Protocol, restarts: ReadonlySet<number>) {
  const story = new Story(protocol)
  for (const [at, [, step]] of STEPS.entries()) {
    await step(story)
    await settled()
    if (!restarts.has(at)) continue
    await story.restart()
    await settled()
  }
  return { events: await story.events(), record: await story.record(), launches: story.launches }
}

describe.each(PROTOCOLS)('%s', (_, protocol) => {
  test.each(STEPS.map(([name], at) => [name, at] as const).slice(1))(
    'a server that is replaced after "%s" logs what one server would have logged',
    async (__, at) => {
      expect(await played(protocol, new Set([at]))).toEqual(await played(protocol, new Set()))
    },
  )

  test('a turn whose agent ended unseen is lost, for a reason that names its full disk', async () => {
    const story = new Story(protocol)
    await story.begin()
    await story.prompt('prompt 1')
    story.script.begin(1)
    await settled()
    await story.restart()
    await settled()
    const error = { code: 'storage_failed', message: 'no space is left' } as const
    for (const agent of story.driver.agents.values()) agent.die({ unseen: true, error })
    await settled()
    const message = 'the agent ended while no server was running: no space is left'
    expect(await story.events()).toContainEqual(
      expect.objectContaining({ outcome: 'lost', error: expect.objectContaining({ message }) }),
    )
  })

  test('so does one that is replaced after every step', async () => {
    const every = new Set<number>([...STEPS.keys()].slice(1))
    expect(await played(protocol, every)).toEqual(await played(protocol, new Set()))
  })
})
