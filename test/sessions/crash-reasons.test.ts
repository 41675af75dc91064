import { describe, expect, test } from 'vitest'
import { agents } from '../../src/agents/index.ts'
import type { Frame } from '../../src/framing/frame.ts'
import type { Event } from '../../src/model/index.ts'
import { Conversation } from '../../src/sessions/conversation.ts'

const launches = agents
  .filter(({ id }) => !['board', 'demo', 'echo'].includes(id))
  .flatMap((agent) =>
    Object.entries(agent.launches).map(([launch, recipe]) => ({ agent: agent.id, launch, recipe })),
  )

function play(
  recipe: (typeof launches)[number],
  frames: readonly Frame[],
  exit: { code?: number; signal?: string },
) {
  const events: Event[] = []
  const launch = recipe.launch === 'live' ? 'live' : 'oneshot'
  const conversation = new Conversation({
    agent: recipe.agent,
    recipe: recipe.recipe,
    start: { launch, cwd: '/', policy: { approval: 'ask', sandbox: 'none' }, options: {} },
    digest: (text) => text,
    now: () => 0,
    emit: (event) => events.push(event),
  })
  conversation.launch()
  conversation.command({ type: 'open' })
  conversation.begin(conversation.accept(), 'go')
  conversation.command({ type: 'prompt', text: 'go' })
  for (const frame of frames) conversation.frame(frame)
  conversation.exit(exit)
  return events.flatMap((event) => (event.type === 'turn.completed' ? [event] : []))
}

describe.each(launches)('a $launch $agent that crashes', (one) => {
  const stderr = (text: string): Frame => ({ stream: 'stderr', text })

  test('says why with the end of its standard error', () => {
    const frames = [stderr('warming up'), stderr('\u001b[31mpanic: out of bounds\u001b[0m')]
    expect(play(one, frames, { signal: 'SIGSEGV' })).toMatchObject([
      {
        outcome: 'crashed',
        error: {
          code: 'protocol_error',
          message: 'the agent ended without a result (signal SIGSEGV): warming up\npanic: out of bounds',
        },
      },
    ])
  })

  test('says no more than its exit when it wrote nothing', () => {
    expect(play(one, [], { signal: 'SIGSEGV' })).toMatchObject([
      { outcome: 'crashed', error: { message: 'the agent ended without a result (signal SIGSEGV)' } },
    ])
  })
})
