import type { Frame } from '../../framing/frame.ts'
import type { Command } from '../../model/index.ts'
import type { Decoded, Write } from '../agent.ts'
import { nothing, refuse, send } from '../decoded.ts'
import { fields, isFields, text } from '../fields.ts'
import type { State } from './state.ts'

const SESSIONS = '/api/sessions'

/** Which agent of the board works unless the configuration names one. */
const DEFAULT_AGENT = 'claude'

/** Commands as HTTP calls. What is answered comes back as a frame under the call's tag: see `decodeAnswer`. */
export function encode(state: State, command: Command): Decoded {
  switch (command.type) {
    case 'open':
      return nothing
    case 'prompt':
      return prompt(state, command)
    case 'interrupt':
      return interrupt(state)
    case 'close':
      return send([{ kind: 'end' }])
    case 'steer':
    case 'answer':
    case 'set_model':
    case 'set_policy':
      return refuse('unsupported_option', `a board cannot take "${command.type}"`)
    default:
      return command satisfies never
  }
}

function prompt(state: State, { text: words, images }: Extract<Command, { type: 'prompt' }>): Decoded {
  if (images?.length) return refuse('unsupported_option', 'a board takes no images')
  // A second session would know nothing of the first, and look as if it did.
  if (state.start.resume !== undefined)
    return refuse('unsupported_option', 'a session of a board takes one prompt; start another session')
  if (state.turnOpen) return refuse('conflict', 'the board is still working on the last prompt')
  state.turnOpen = true
  const body = { agentId: DEFAULT_AGENT, projectId: projectOf(state.start.cwd), prompt: words }
  return send([{ kind: 'http', method: 'POST', path: SESSIONS, tag: 'prompt', body }])
}

/** Unless the configuration names a project, it is called as the directory is. */
function projectOf(cwd: string): string {
  return cwd.split('/').findLast((part) => part !== '') ?? cwd
}

function interrupt(state: State): Decoded {
  if (!state.turnOpen) return nothing
  if (state.session !== undefined) return send([cancelCall(state.session)])
  state.cancelling = true
  return nothing
}

export function cancelCall(session: string): Write {
  return { kind: 'http', method: 'POST', path: `${SESSIONS}/${session}/cancel`, tag: 'cancel' }
}

/** A call that a transcript shows: `{ method, path, body }`. */
export function sent(state: State, frame: Frame): Command | undefined {
  if (!isFields(frame.value) || text(frame.value, 'method') !== 'POST') return undefined
  const path = text(frame.value, 'path') ?? ''
  if (path.startsWith(`${SESSIONS}/`) && path.endsWith('/cancel')) return { type: 'interrupt' }
  if (path !== SESSIONS || state.turnOpen) return undefined
  state.turnOpen = true
  return { type: 'prompt', text: text(fields(frame.value, 'body'), 'prompt') ?? '' }
}
