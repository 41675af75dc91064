import type { Frame } from '../../framing/frame.ts'
import type { Command } from '../../model/index.ts'
import type { Decoded, Write } from '../agent.ts'
import { nothing, refuse, send } from '../kit/decoded.ts'
import { fields, isFields, text } from '../kit/fields.ts'
import { encoder, unsupportedBy } from '../kit/rules.ts'
import type { BoardCodecState } from './state.ts'

const SESSIONS = '/api/sessions'

/** The board's agent, unless the configuration names one. */
const DEFAULT_AGENT = 'claude'

/** Encodes commands as HTTP calls. The response arrives as a frame with the call's tag: see `decodeAnswer`. */
export const encode = encoder<BoardCodecState>({
  open: () => nothing,
  prompt,
  interrupt,
  steer: unsupportedBy('a board'),
  answer: unsupportedBy('a board'),
  set_model: unsupportedBy('a board'),
  set_policy: unsupportedBy('a board'),
})

function prompt(
  state: BoardCodecState,
  { text: promptText, images }: Extract<Command, { type: 'prompt' }>,
): Decoded {
  if (images?.length) return refuse('unsupported_option', 'a board does not accept images')
  // A second session would know nothing of the first but appear to continue it.
  if (state.start.resume !== undefined)
    return refuse('unsupported_option', 'a board session accepts one prompt; start another session')
  if (state.turnOpen) return refuse('conflict', 'the board is still working on the last prompt')
  state.turnOpen = true
  const body = { agentId: DEFAULT_AGENT, projectId: projectOf(state.start.cwd), prompt: promptText }
  return send([{ kind: 'http', method: 'POST', path: SESSIONS, tag: 'prompt', body }])
}

/** The default project name is the name of the directory. */
function projectOf(cwd: string): string {
  return cwd.split('/').findLast((part) => part !== '') ?? cwd
}

function interrupt(state: BoardCodecState): Decoded {
  if (!state.turnOpen) return nothing
  if (state.session !== undefined) return send([cancelCall(state.session)])
  state.cancelling = true
  return nothing
}

export function cancelCall(session: string): Write {
  return { kind: 'http', method: 'POST', path: `${SESSIONS}/${session}/cancel`, tag: 'cancel' }
}

/** Reads a call of a transcript: `{ method, path, body }`. */
export function sent(state: BoardCodecState, frame: Frame): Command | undefined {
  if (!isFields(frame.value) || text(frame.value, 'method') !== 'POST') return undefined
  const path = text(frame.value, 'path') ?? ''
  if (path.startsWith(`${SESSIONS}/`) && path.endsWith('/cancel')) return { type: 'interrupt' }
  if (path !== SESSIONS || state.turnOpen) return undefined
  state.turnOpen = true
  return { type: 'prompt', text: text(fields(frame.value, 'body'), 'prompt') ?? '' }
}
