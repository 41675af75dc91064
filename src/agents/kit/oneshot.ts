import type { Command } from '../../model/index.ts'
import type { Decoded, Start } from '../agent.ts'
import { nothing, refuse, send } from './decoded.ts'

/**
 * Encodes commands for a one-turn process: only the prompt, on stdin and never in argv. The process ends by itself or
 * by a signal.
 */
export function encodeOneshot(agent: string, start: Start, command: Command): Decoded {
  switch (command.type) {
    case 'open':
    case 'close':
    case 'interrupt':
      return nothing
    case 'prompt':
      // Images are passed at launch: later ones would be lost silently.
      if ((command.images?.length ?? 0) !== (start.prompt?.images.length ?? 0))
        return refuse('unsupported_option', `a running one-shot ${agent} does not accept images`)
      return send([{ kind: 'text', text: command.text }, { kind: 'end' }])
    case 'steer':
    case 'answer':
    case 'set_model':
    case 'set_policy':
      return refuse(
        'unsupported_option',
        `a one-shot ${agent} does not support "${command.type}"; use the live launch`,
      )
    default:
      return command satisfies never
  }
}
