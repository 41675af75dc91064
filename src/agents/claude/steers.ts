import type { Decoded, Emitted } from '../agent.ts'
import { emit, nothing } from '../kit/decoded.ts'
import { type Fields, text } from '../kit/fields.ts'
import { bindSteer, noteBegun } from './binding.ts'
import { type ClaudeState, openTurn, type SentPrompt } from './state.ts'

/** A prompt with our id is queued, started and completed; only its start matters. */
export function decodeLifecycle(state: ClaudeState, native: Fields): Decoded {
  state.lifecycle = true
  const uuid = text(native, 'command_uuid')
  if (uuid === undefined || text(native, 'state') !== 'started') return nothing
  if (state.turn.waiting?.promptId === uuid) {
    state.turn.waiting = undefined
    noteBegun(state, native)
  }
  const index = state.steers.findIndex((steer) => steer.promptId === uuid)
  if (index < 0) return nothing
  const [steer] = state.steers.splice(index, 1)
  return steer && state.turn.open ? emit(folded(state, steer)) : emit(beginTurn(state, steer))
}

function folded(state: ClaudeState, steer: SentPrompt): Emitted {
  bindSteer(state, steer.promptId)
  return { type: 'turn.steered', prompt: steer.text, effect: 'folded' }
}

/** A turn that we did not open with a prompt: a steering prompt became a turn, or the agent started one. */
export function beginTurn(state: ClaudeState, steer = state.steers.shift()): Emitted {
  openTurn(state, 'begun', steer?.promptId)
  if (!steer) return { type: 'turn.started', origin: 'agent' }
  const promptId = steer.promptId === undefined ? {} : { promptId: steer.promptId }
  return { type: 'turn.started', origin: 'prompt', prompt: steer.text, ...promptId }
}

/** The model receives pending steering prompts together with the result of its call. */
export function passSteers(state: ClaudeState): void {
  if (state.turn.waiting) state.turn.waiting.passed = true
  for (const steer of state.steers) steer.passed = true
}

/**
 * The model is called again. For older versions and prompts without an id, this is the only sign that steering was
 * delivered.
 */
export function foldSteers(state: ClaudeState): Emitted[] {
  const emitted: Emitted[] = []
  if (!state.turn.open) return emitted
  if (state.turn.waiting && wasTold(state, state.turn.waiting)) state.turn.waiting = undefined
  if (state.steers.length === 0) return emitted
  state.steers = state.steers.filter((steer) => {
    if (!wasTold(state, steer)) return true
    emitted.push(folded(state, steer))
    return false
  })
  return emitted
}

function wasTold({ lifecycle }: ClaudeState, { passed, promptId }: SentPrompt): boolean {
  return passed && !(lifecycle && promptId !== undefined)
}
