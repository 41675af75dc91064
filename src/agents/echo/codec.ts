import type { Frame } from '../../framing/frame.ts'
import type { LaunchKind } from '../../model/index.ts'
import type { Codec, Decoded, Exit, Start, TurnVerdict } from '../agent.ts'
import { emit, line, malformed, nothing, send, unmapped } from '../kit/decoded.ts'
import { encoder, unsupportedBy } from '../kit/rules.ts'

export interface EchoState {
  readonly epoch: number
  readonly launch: LaunchKind
  messages: number
  /** A prompt was sent and not echoed yet. */
  waiting: boolean
}

const refused = unsupportedBy('echo')

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

  encode: encoder<EchoState>({
    open: () => nothing,
    prompt(state, { text }) {
      state.waiting = true
      return send(state.launch === 'oneshot' ? [line(text), { kind: 'end' }] : [line(text)])
    },
    interrupt: (state) => stop(state, { evidence: 'aborted' }),
    set_model: (_, { model }) => (model === null ? nothing : emit({ type: 'session.updated', model })),
    // It needs no permissions, so every policy is satisfied; it has no modes.
    set_policy: (state, command) => (command.mode === undefined ? nothing : refused(state, command)),
    steer: refused,
    answer: refused,
  }),

  end(state: EchoState, exit: Exit): Decoded {
    if (exit.error) return stop(state, { evidence: 'error', error: exit.error })
    return stop(state, { evidence: exit.cause === 'exit' ? 'none' : 'aborted' })
  },
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
