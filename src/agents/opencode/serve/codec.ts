import type { Codec, Decoded } from '../../agent.ts'
import { emit, emitAll, malformed, nothing, unmapped } from '../../kit/decoded.ts'
import { type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { discardMessage } from '../../kit/messages.ts'
import { type FrameRule, ruleTable } from '../../kit/rules.ts'
import { settle } from '../../kit/settle.ts'
import { encode } from './commands.ts'
import { abandonHeld } from './frame-buffer.ts'
import { decodeAnswer } from './http-responses.ts'
import { decodeMessage, decodeMessagePart } from './messages.ts'
import { decodeDelta } from './parts.ts'
import { doubtful, readState } from './recovery.ts'
import { decodePermission, decodeQuestion, decodeRejected, decodeReply, openAllHeld } from './requests.ts'
import { sent } from './sent.ts'
import {
  decodeCompacted,
  decodeCreated,
  decodeError,
  decodeIdle,
  decodeStatus,
  decodeSwitch,
  decodeTodo,
  decodeUpdated,
} from './sessions.ts'
import { initialState, type ServeState } from './state.ts'
import { endTurn } from './turn.ts'

const silent: FrameRule<ServeState> = () => nothing

const ruleOf = ruleTable<FrameRule<ServeState>>({
  'message.part.delta': decodeDelta,
  'message.part.updated': decodeMessagePart,
  'message.updated': decodeMessage,
  'message.part.removed': (state, properties) => {
    const id = text(properties, 'partID') ?? ''
    const part = state.turn.parts.get(id)
    if (part) part.done = true
    return emitAll(discardMessage(state.ledger, id))
  },
  'session.created': decodeCreated,
  'session.updated': decodeUpdated,
  'session.next.agent.switched': decodeSwitch,
  'session.next.model.switched': decodeSwitch,
  'session.status': decodeStatus,
  'session.error': decodeError,
  'session.idle': decodeIdle,
  'session.compacted': decodeCompacted,
  'permission.asked': decodePermission,
  'permission.replied': decodeReply,
  'question.asked': decodeQuestion,
  'question.replied': decodeReply,
  'question.rejected': decodeRejected,
  'todo.updated': decodeTodo,
  'server.connected': (state) => {
    state.streams++
    return state.streams > 1 && state.driven ? readState(state) : nothing
  },
  'server.heartbeat': (state) => emitAll(openAllHeld(state)),
  // Components that the server loads at start.
  'plugin.added': silent,
  'catalog.updated': silent,
  'reference.updated': silent,
  'integration.updated': silent,
  'lsp.updated': silent,
  'mcp.tools.changed': silent,
  // The tool that changed a file reports it, with the diff.
  'session.diff': silent,
  'file.edited': silent,
  'file.watcher.updated': silent,
})

/** `opencode serve`: events arrive as SSE data, commands are HTTP calls. */
export const codec: Codec<ServeState> = {
  initial: initialState,

  decode(state, frame) {
    if (frame.stream === 'stderr' || frame.stream === 'stdout')
      return emit({ type: 'output.written', stream: frame.stream, line: frame.text })
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    if (frame.stream === 'http') return decodeAnswer(state, native)
    const rule = ruleOf(native.type)
    if (rule) return rule(state, fields(native, 'properties'), frame.text)
    return decodeBreak(native) ?? unmapped(text(native, 'type') ?? '?', frame.text)
  },

  encode,

  unconfirmed: (state) => state.aborting,

  doubtful,

  sent,

  ready: ({ root, openFailure }) => root !== undefined || openFailure !== undefined,

  end(state, exit) {
    // No work outlives the server.
    if (state.turn.open) return emitAll(endTurn(state, exit))
    return emitAll([
      ...abandonHeld(state),
      ...openAllHeld(state),
      ...settle(state.ledger, 'interrupted', true),
    ])
  },
}

/** A recording tool notes that the connection broke. */
function decodeBreak(native: Fields): Decoded | undefined {
  const why = text(native, 'sseError')
  if (why === undefined) return undefined
  return emit({
    type: 'notice.raised',
    level: 'warning',
    code: 'agent_warning',
    message: `no more events: ${why}`,
  })
}
