import { describe, expect, test } from 'vitest'
import { DOUBT_MS } from '../../../src/sessions/turns/doubt.ts'
import type { Death } from '../lasting-driver.ts'
import { PROTOCOLS } from '../machine/scripted-protocols.ts'
import { type Protocol, Story, settled } from './story.ts'

/** A session whose server dies within the write of its second prompt, and is started again. */
async function restartedWithin(protocol: Protocol, death: Death): Promise<Story> {
  const story = new Story(protocol)
  await story.begin()
  await story.prompt('prompt 1')
  await settled()
  story.script.begin(1)
  story.script.finish(1, 'text 1')
  await settled()
  story.driver.dieWithin(death)
  await story.prompt('prompt 2')
  await settled()
  await story.restart()
  await settled()
  return story
}

async function outcomes(story: Story): Promise<string[]> {
  const events = await story.events()
  return events.flatMap((event) => (event.type === 'turn.completed' ? [event.outcome] : []))
}

// The history of OpenCode tells what it has: test/agents/opencode/opencode-recovery.test.ts.
const LINES = PROTOCOLS.filter(([name]) => name !== 'opencode')
/** The agent skips a prompt whose id it has seen, so it is sent again. */
const NAMED = LINES.filter(([name]) => name.startsWith('claude'))
const UNNAMED = LINES.filter(([name]) => !name.startsWith('claude'))

describe.each(LINES)('a prompt to %s whose server died within its write', (_, protocol) => {
  test('is worked on once if the agent has it', async () => {
    const story = await restartedWithin(protocol, 'after it has arrived')
    story.script.begin(2)
    story.script.say(2, 'text 2')
    await settled()
    await story.pass(DOUBT_MS)
    story.script.finish(2, 'text 2')
    await settled()
    expect(await outcomes(story)).toEqual(['completed', 'completed'])
    expect(story.script.prompts).toBe(2)
    expect(story.launches).toHaveLength(1)
  })
})

describe.each(NAMED)('a prompt to %s that never arrived', (_, protocol) => {
  test('is sent', async () => {
    const story = await restartedWithin(protocol, 'before it arrives')
    story.script.begin(2)
    story.script.finish(2, 'text 2')
    await settled()
    expect(await outcomes(story)).toEqual(['completed', 'completed'])
    expect(story.script.prompts).toBe(2)
  })
})

describe.each(UNNAMED)('a prompt to %s that never arrived', (_, protocol) => {
  test('is not sent again: its turn is lost when the agent shows nothing of it in time', async () => {
    const story = await restartedWithin(protocol, 'before it arrives')
    await story.pass(DOUBT_MS - 1)
    expect(await outcomes(story)).toEqual(['completed'])
    await story.pass(1)
    await settled()
    expect(await outcomes(story)).toEqual(['completed', 'lost'])
    expect(story.script.prompts).toBe(1)
  })
})
