import { expect } from 'vitest'
import type { Emitted, Exit, Start, TurnVerdict } from '../../../src/agents/agent.ts'
import { codec } from '../../../src/agents/gemini/codec.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import type { Policy, SessionOptions } from '../../../src/model/index.ts'

export function startOf(policy: Partial<Policy> = {}, options: SessionOptions = {}): Start {
  return {
    launch: 'oneshot',
    cwd: '/project',
    policy: { approval: 'ask', sandbox: 'none', ...policy },
    options,
    epoch: 3,
  }
}

/** What the codec makes of these lines, and of how the process ended. */
export function emitted(lines: readonly unknown[], exit: Exit = { code: 0, cause: 'exit' }): Emitted[] {
  const state = codec.initial(startOf())
  const frames = lines.map((line) => jsonFrame('stdout', JSON.stringify(line)))
  const steps = frames.map((frame) => codec.decode(state, frame))
  expect(steps.map(({ verdict }) => verdict)).toEqual(lines.map(() => 'mapped'))
  return [...steps.flatMap((step) => step.emitted), ...codec.end(state, exit).emitted]
}

export function verdictOf(lines: readonly unknown[], exit?: Exit): TurnVerdict {
  const verdict = emitted(lines, exit).at(-1)
  if (verdict?.type !== 'turn.verdict') throw new Error('the turn has no verdict')
  return verdict
}
