import type { Frame } from '../../framing/frame.ts'
import type { Command, LaunchKind } from '../../model/index.ts'
import type { Codec, Decoded, Exit, Start, TurnVerdict, Write } from '../agent.ts'
import { emit, line, malformed, nothing, refuse, send, unmapped } from '../kit/decoded.ts'

export interface EchoState {
  readonly epoch: number
  readonly launch: LaunchKind
  messages: number
  /** A prompt was sent and not echoed yet. */
  waiting: boolean
}

const END: Write = { kind: 'end' }

/** The native format is one JSON string per line in both directions, so that any text fits on a line. */
export const echoCodec: Codec<EchoState> = {
  initial(start: Start): EchoState {
    return { epoch: start.epoch, launch: start.launch, messages: 0, waiting: false }
  },

  decode(state: EchoState, frame: Frame): Decoded {
    const text = frame.value
    if (text === undefined) return malformed(frame.text)
    if (typeof text !== 'string') return unmapped(typeof text, frame.text)
    // An echo after an interrupt belongs to no turn.
    if (!state.waiting) return nothing
    state.waiting = false
    const messageId = `e${state.epoch}.m${++state.messages}`
    return emit({ type: 'text.completed', messageId, text }, verdict({ evidence: 'success', result: text }))
  },

  encode(state: EchoState, command: Command): Decoded {
    switch (command.type) {
      case 'open':
        return nothing
      case 'prompt': {
        state.waiting = true
        const prompt = line(command.text)
        return send(state.launch === 'oneshot' ? [prompt, END] : [prompt])
      }
      case 'interrupt':
        return stop(state, { evidence: 'aborted' })
      case 'close':
        return send([END])
      case 'set_model':
        return command.model === null ? nothing : emit({ type: 'session.updated', model: command.model })
      case 'set_policy':
        // It needs no permissions, so every policy is satisfied; it has no modes.
        return command.mode === undefined ? nothing : refused(command)
      case 'steer':
      case 'answer':
        return refused(command)
      default:
        return command satisfies never
    }
  },

  end(state: EchoState, exit: Exit): Decoded {
    if (exit.error) return stop(state, { evidence: 'error', error: exit.error })
    return stop(state, { evidence: exit.cause === 'exit' ? 'none' : 'aborted' })
  },
}

function refused({ type }: Command): Decoded {
  return refuse('unsupported_option', `echo does not support ${type}`)
}

type EchoEnding = Pick<TurnVerdict, 'evidence' | 'result' | 'error'>

/** A prompt without an echo still gets a verdict. */
function stop(state: EchoState, ending: EchoEnding): Decoded {
  if (!state.waiting) return nothing
  state.waiting = false
  return emit(verdict(ending))
}

function verdict(ending: EchoEnding): TurnVerdict {
  return { type: 'turn.verdict', ...ending, denials: 0, personDenials: 0 }
}
