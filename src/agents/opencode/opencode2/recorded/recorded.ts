import type { Codec, Start } from '../../../agent.ts'
import { malformed, unmapped } from '../../../kit/decoded.ts'
import { isFields, text } from '../../../kit/fields.ts'
import { acpCodec } from '../../../protocols/acp/codec.ts'
import { OPENCODE_WITH_RULES } from '../../../protocols/acp/launch/opencode.ts'
import { codec as serverCodec } from '../codec.ts'
import { runLines } from './run-lines.ts'

interface ChosenCodec<State> {
  codec: Codec<State>
  state: State
}

/** The codec of a recording, chosen by its first line. */
interface RecordedState {
  readonly start: Start
  chosen: ChosenCodec<unknown> | undefined
}

function choose<State>(codec: Codec<State>, start: Start): ChosenCodec<unknown> {
  return { codec: codec as Codec<unknown>, state: codec.initial(start) }
}

const acp = acpCodec(OPENCODE_WITH_RULES)

/** OpenCode 2 speaks three protocols: its server, ACP, and the lines of `run --format json`. */
function codecOf(line: unknown): ((start: Start) => ChosenCodec<unknown>) | undefined {
  if (!isFields(line)) return undefined
  if (line.jsonrpc !== undefined) return (start) => choose(acp, start)
  if (line.timestamp !== undefined) return (start) => choose(runLines, start)
  const isServer = [line.data, line.sse, line.path].some((field) => field !== undefined)
  return isServer ? (start) => choose(serverCodec, start) : undefined
}

/** Without a line that shows the protocol, nothing was recorded but its launch. */
function chosenOf(state: RecordedState): ChosenCodec<unknown> {
  const { start } = state
  state.chosen ??= start.launch === 'oneshot' ? choose(runLines, start) : choose(serverCodec, start)
  return state.chosen
}

function recognise(state: RecordedState, line: unknown): ChosenCodec<unknown> | undefined {
  state.chosen ??= codecOf(line)?.(state.start)
  return state.chosen
}

/** Decodes recordings of OpenCode 2, whichever protocol they have. */
export const recordedCodec: Codec<RecordedState> = {
  initial: (start) => ({ start, chosen: undefined }),
  decode(state, frame) {
    const chosen = frame.stream === 'stderr' ? chosenOf(state) : recognise(state, frame.value)
    if (!chosen) {
      const { value, text: line } = frame
      return isFields(value) ? unmapped(text(value, 'type') ?? '?', line) : malformed(line)
    }
    const { codec, state: inner } = chosen
    const isPrinted = codec !== (serverCodec as Codec<unknown>)
    return codec.decode(inner, isPrinted && frame.stream === 'sse' ? { ...frame, stream: 'stdout' } : frame)
  },
  encode(state, command) {
    const { codec, state: inner } = chosenOf(state)
    return codec.encode(inner, command)
  },
  end(state, exit) {
    const { codec, state: inner } = chosenOf(state)
    return codec.end(inner, exit)
  },
  sent(state, frame) {
    const chosen = recognise(state, frame.value)
    return chosen?.codec.sent?.(chosen.state, frame)
  },
}
