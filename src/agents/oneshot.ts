import type { Command } from '../model/index.ts'
import type { Decoded, Start } from './agent.ts'
import { nothing, refuse, send } from './decoded.ts'

/** What a process of one turn can be told: its prompt, by stdin and never by argv. It ends by itself or by a signal. */
export function encodeOneshot(agent: string, start: Start, command: Command): Decoded {
  switch (command.type) {
    case 'open':
    case 'close':
    case 'interrupt':
      return nothing
    case 'prompt':
      // Pictures are part of the start: others would be lost without a word.
      if ((command.images?.length ?? 0) !== (start.prompt?.images.length ?? 0))
        return refuse('unsupported_option', `a one-shot ${agent} that runs takes no images`)
      return send([{ kind: 'text', text: command.text }, { kind: 'end' }])
    case 'steer':
    case 'answer':
    case 'set_model':
    case 'set_policy':
      return refuse(
        'unsupported_option',
        `a one-shot ${agent} cannot take "${command.type}"; use the live launch`,
      )
    default:
      return command satisfies never
  }
}
