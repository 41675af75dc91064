import type { Codec } from '../agent.ts'
import { emitAll, malformed } from '../kit/decoded.ts'
import { isFields } from '../kit/fields.ts'
import { decodeAnswer } from './answers.ts'
import { settleCalls } from './calls.ts'
import { encode, sent } from './commands.ts'
import { decodeEvent } from './events.ts'
import { type BoardCodecState, initialState } from './state.ts'
import { endTurn } from './turn.ts'

/**
 * The sessions of a board server. Events arrive as frames of stream `sse`, pushed or polled, and HTTP responses as
 * frames of stream `http`; a transcript has both on one stream, where the tag identifies a response.
 */
export const codec: Codec<BoardCodecState> = {
  initial: initialState,

  decode(state, frame) {
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const isAnswer = frame.stream === 'http' || typeof native.tag === 'string'
    return isAnswer ? decodeAnswer(state, native) : decodeEvent(state, native, frame.text)
  },

  encode,

  sent,

  end(state, exit) {
    return emitAll(state.turnOpen ? endTurn(state, exit) : settleCalls(state, 'interrupted'))
  },
}
