import type { Decoded, Emitted } from '../agent.ts'
import { emit, nothing } from '../decoded.ts'
import { type Fields, text } from '../fields.ts'
import { bindSteer, noteBegun } from './binding.ts'
import { openTurn, type Sent, type State } from './state.ts'

/** A prompt with our id is queued, started and completed; only its start matters. */
export function decodeLifecycle(state: State, native: Fields): Decoded {
  state.lifecycle = true
  const uuid = text(native, 'command_uuid')
  if (uuid === undefined || text(native, 'state') !== 'started') return nothing
  if (state.waiting?.promptId === uuid) {
    state.waiting = undefined
    noteBegun(state, native)
  }
  const index = state.steers.findIndex((steer) => steer.promptId === uuid)
  if (index < 0) return nothing
  const [steer] = state.steers.splice(index, 1)
  return steer && state.turnOpen ? emit(folded(state, steer)) : emit(beginTurn(state, steer))
}

function folded(state: State, steer: Sent): Emitted {
  bindSteer(state, steer.promptId)
  return { type: 'turn.steered', prompt: steer.text, effect: 'folded' }
}

/** A turn that we did not open with a prompt: a steering prompt became a turn, or the agent started one. */
export function beginTurn(state: State, steer = state.steers.shift()): Emitted {
  openTurn(state, 'begun', steer?.promptId)
  if (!steer) return { type: 'turn.started', origin: 'agent' }
  const promptId = steer.promptId === undefined ? {} : { promptId: steer.promptId }
  return { type: 'turn.started', origin: 'prompt', prompt: steer.text, ...promptId }
}

/** The model receives pending steering prompts together with the result of its call. */
export function passSteers(state: State): void {
  if (state.waiting) state.waiting.passed = true
  for (const steer of state.steers) steer.passed = true
}

/**
 * The model is called again. For older versions and prompts without an id, this is the only sign that steering was
 * delivered.
 */
export function foldSteers(state: State): Emitted[] {
  const emitted: Emitted[] = []
  if (!state.turnOpen) return emitted
  if (state.waiting && wasTold(state, state.waiting)) state.waiting = undefined
  if (state.steers.length === 0) return emitted
  state.steers = state.steers.filter((steer) => {
    if (!wasTold(state, steer)) return true
    emitted.push(folded(state, steer))
    return false
  })
  return emitted
}

function wasTold({ lifecycle }: State, { passed, promptId }: Sent): boolean {
  return passed && !(lifecycle && promptId !== undefined)
}
