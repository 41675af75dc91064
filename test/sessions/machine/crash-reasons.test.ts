import { describe, expect, test } from 'vitest'
import { agents } from '../../../src/agents/index.ts'
import { daemon } from '../../../src/dialects/daemon.ts'
import type { Frame } from '../../../src/framing/frame.ts'
import type { Event } from '../../../src/model/index.ts'
import { Conversation } from '../../../src/sessions/machine/conversation.ts'
import { entriesOf } from '../../dialects/entries.ts'
import { SAMPLES } from '../../model/samples.ts'

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

  test('has advice that describes the end of its process', () => {
    const adviceAfter = (exit: { code?: number; signal?: string }) => play(one, [], exit)[0]?.error?.advice
    expect(adviceAfter({ code: 134 })).toMatch(/^The agent crashed/)
    expect(adviceAfter({ signal: 'SIGKILL' })).toMatch(/^Another process or the system killed the agent/)
    expect(adviceAfter({ signal: 'SIGTERM' })).toMatch(/^Another process told the agent to stop/)
  })
})

describe.each(launches)('a $launch $agent that another process tells to stop', (one) => {
  const { stopCode } = one.recipe
  const daemonOf = (exit: { code?: number; signal?: string }) => {
    const state = daemon.initial({})
    const events: Event[] = [SAMPLES['turn.started'], ...play(one, [], exit)]
    return entriesOf(...events)
      .flatMap((entry) => daemon.project(state, entry))
      .at(-1)
  }

  test('is interrupted in the daemon dialect, whether or not it handles the signal', () => {
    const exits = [{ signal: 'SIGTERM' }, { signal: 'SIGINT' }, { code: 143 }, { code: 130 }]
    if (stopCode !== undefined) exits.push({ code: stopCode })
    for (const exit of exits) expect(daemonOf(exit)).toMatchObject({ type: 'interrupted' })
  })

  test('is not taken for one that crashed', () => {
    const exits = [{ signal: 'SIGKILL' }, { signal: 'SIGSEGV' }, { code: 134 }]
    if (stopCode === undefined) exits.push({ code: 0 })
    for (const exit of exits) expect(daemonOf(exit)).toMatchObject({ type: 'error', outcome: 'crashed' })
  })

  test('is crashed in the log, with the reason', () => {
    const [end] = play(one, [], { code: stopCode ?? 143 })
    expect(end).toMatchObject({ outcome: 'crashed', error: { code: 'protocol_error' } })
    expect(end?.exit).toEqual(stopCode === undefined ? { code: 143 } : { code: stopCode, stopped: true })
  })
})
