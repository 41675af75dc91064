import { addUsage } from '../../model/index.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, nothing, skipped, unmapped } from '../kit/decoded.ts'
import { type Fields, fields, isFields, number, text } from '../kit/fields.ts'
import { addDelta, discardDraft, discardMessage } from '../kit/messages.ts'
import { ruleTable } from '../kit/rules.ts'
import { ownsMessage } from './binding.ts'
import { type ClaudeState, type MessageStream, newStream, type StreamBlock } from './state.ts'
import { foldSteers } from './steers.ts'
import { usageOf } from './usage.ts'

type StreamRule = (state: ClaudeState, stream: MessageStream, event: Fields, native: Fields) => Decoded

const ruleOf = ruleTable<StreamRule>({
  message_start(state, stream, event, native) {
    const message = fields(event, 'message')
    const id = text(message, 'id') ?? ''
    stream.late = stream.parent === undefined && !ownsMessage(state, native, id)
    // Incomplete blocks of the thread will be repeated in this message.
    const emitted = discardBlocks(state, stream)
    if (stream.parent === undefined && !stream.late) emitted.push(...foldSteers(state))
    stream.messageId = id
    stream.model = text(message, 'model')
    stream.blocks = new Map()
    return emitAll(emitted)
  },

  content_block_start(_state, stream, event) {
    const block = fields(event, 'content_block')
    const type = text(block, 'type')
    if (stream.late || (type !== 'text' && type !== 'thinking' && type !== 'tool_use')) return nothing
    const index = number(event, 'index') ?? stream.blocks.size
    stream.blocks.set(index, {
      type,
      messageId: `${stream.messageId}:${index}`,
      toolId: text(block, 'id') ?? '',
      toolName: text(block, 'name') ?? '',
      shown: false,
      whole: false,
    })
    return nothing
  },

  // The hottest rule by far, so it reads its fields directly.
  content_block_delta(state, stream, event) {
    const block = stream.blocks.get(event.index)
    const delta = event.delta
    if (stream.late || block?.whole) return skipped
    if (!block || !isFields(delta)) return nothing
    if (block.type === 'tool_use') return toolDraft(stream, block, delta.partial_json)
    const piece = block.type === 'text' ? delta.text : delta.thinking
    if (typeof piece !== 'string') return nothing
    block.shown = true
    return emit(addDelta(state.ledger, block.type, block.messageId, piece, stream.parent))
  },

  // Follows the complete block, so nothing is left to emit.
  content_block_stop: () => nothing,

  // The only accurate usage of one model call: complete blocks carry a placeholder.
  message_delta(state, stream, event) {
    if (stream.late) return skipped
    const usage = usageOf(fields(event, 'usage'))
    state.turn.steps = addUsage(state.turn.steps, usage)
    state.turn.stepSeen = true
    // The result includes the usage of sub-agents; counted here for a turn that ends without one.
    if (stream.parent !== undefined) return nothing
    const model = stream.model === undefined ? {} : { model: stream.model }
    return emit({ type: 'usage.reported', scope: 'step', ...usage, ...model, source: 'agent' })
  },

  message_stop(state, stream, _event, native) {
    const abandoned = native.abandoned_blocks
    const from =
      abandoned === undefined ? 0 : (number(fields(native, 'abandoned_blocks'), 'from_block_index') ?? 0)
    return emitAll(discardBlocks(state, stream, from))
  },

  ping: () => nothing,
  // An error of the model's stream: the following retry or failure reports it.
  error: () => nothing,
})

function toolDraft({ parent }: MessageStream, block: StreamBlock, delta: unknown): Decoded {
  if (typeof delta !== 'string') return nothing
  block.shown = true
  const { toolId, toolName: name, messageId } = block
  if (parent === undefined) return emit({ type: 'tool.input.delta', toolId, name, messageId, delta })
  return emit({ type: 'tool.input.delta', toolId, name, messageId, delta, parent })
}

export function decodeStreamEvent(state: ClaudeState, native: Fields, raw: string): Decoded {
  const event = isFields(native.event) ? native.event : native
  const rule = ruleOf(event.type)
  if (!rule) return unmapped(`stream_event/${text(event, 'type') ?? '?'}`, raw)
  const parent = native.parent_tool_use_id
  return rule(
    state,
    typeof parent === 'string' ? innerStream(state, parent) : state.turn.stream,
    event,
    native,
  )
}

function innerStream({ innerStreams }: ClaudeState, parent: string): MessageStream {
  let stream = innerStreams.get(parent)
  if (!stream) {
    stream = newStream(parent)
    innerStreams.set(parent, stream)
  }
  return stream
}

/** The stream with the deltas of a complete message, if any. */
export function streamOf(state: ClaudeState, parent: string | undefined): MessageStream | undefined {
  return parent === undefined ? state.turn.stream : state.innerStreams.get(parent)
}

/** A partial message will be repeated under a new id: every block that was shown and never completed is discarded. */
export function discardBlocks(state: ClaudeState, { blocks }: MessageStream, fromIndex = 0): Emitted[] {
  const emitted: Emitted[] = []
  for (const [index, block] of blocks) {
    if (Number(index) < fromIndex || block.whole) continue
    blocks.delete(index)
    if (block.type !== 'tool_use') emitted.push(...discardMessage(state.ledger, block.messageId))
    else if (block.shown) emitted.push(...discardDraft(state.ledger, block.messageId))
  }
  return emitted
}

/**
 * Returns the streamed block that a complete one belongs to: the first incomplete block of its type in that message.
 */
export function matchBlock(
  stream: MessageStream | undefined,
  messageId: string,
  type: StreamBlock['type'],
  toolId = '',
): StreamBlock | undefined {
  if (messageId !== stream?.messageId) return undefined
  for (const block of stream.blocks.values()) {
    if (block.type !== type || block.whole) continue
    if (type === 'tool_use' && block.toolId !== toolId) continue
    block.whole = true
    return block
  }
  return undefined
}

/** The id of a complete block that was never streamed. */
export function unstreamedId(state: ClaudeState, messageId: string): string {
  const n = state.turn.unstreamed.get(messageId) ?? 0
  state.turn.unstreamed.set(messageId, n + 1)
  return `${messageId}:s${n}`
}
