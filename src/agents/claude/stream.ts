import { addUsage } from '../../model/index.ts'
import type { Said, Step } from '../agent.ts'
import { type Fields, fields, isFields, number, text } from '../fields.ts'
import { addDelta, discardDraft, discardMessage } from '../ledger.ts'
import { ruleTable } from '../rules.ts'
import { nothing, say, sayAll, unmapped } from '../step.ts'
import type { Block, State } from './state.ts'
import { usageOf } from './usage.ts'

type Rule = (state: State, event: Fields, native: Fields) => Step

const ruleOf = ruleTable<Rule>({
  message_start(state, event) {
    const message = fields(event, 'message')
    state.messageId = text(message, 'id') ?? ''
    state.messageModel = text(message, 'model')
    state.blocks = new Map()
    return nothing
  },

  content_block_start(state, event) {
    const block = fields(event, 'content_block')
    const type = text(block, 'type')
    if (type !== 'text' && type !== 'thinking' && type !== 'tool_use') return nothing
    const index = number(event, 'index') ?? state.blocks.size
    state.blocks.set(index, {
      type,
      messageId: `${state.messageId}:${index}`,
      toolId: text(block, 'id') ?? '',
      toolName: text(block, 'name') ?? '',
      shown: false,
      whole: false,
    })
    return nothing
  },

  // The hottest rule by far, so it reads its fields directly.
  content_block_delta(state, event) {
    const block = state.blocks.get(event.index)
    const delta = event.delta
    if (!block || block.whole || !isFields(delta)) return nothing
    if (block.type === 'tool_use') return toolDraft(block, delta.partial_json)
    const piece = block.type === 'text' ? delta.text : delta.thinking
    if (typeof piece !== 'string') return nothing
    block.shown = true
    return say(addDelta(state.ledger, block.type, block.messageId, piece))
  },

  // Comes after the whole block, so there is nothing left to say.
  content_block_stop: () => nothing,

  // The only true figures of one model call: whole blocks carry a placeholder.
  message_delta(state, event) {
    const usage = usageOf(fields(event, 'usage'))
    state.steps = addUsage(state.steps, usage)
    state.stepSeen = true
    const model = state.messageModel === undefined ? {} : { model: state.messageModel }
    return say({ type: 'usage.reported', scope: 'step', ...usage, ...model, source: 'agent' })
  },

  message_stop(state, _event, native) {
    const abandoned = native.abandoned_blocks
    const from =
      abandoned === undefined ? 0 : (number(fields(native, 'abandoned_blocks'), 'from_block_index') ?? 0)
    return sayAll(discardBlocks(state, from))
  },

  ping: () => nothing,
  // An error of the model's stream: the retry or the failure that follows tells it.
  error: () => nothing,
})

function toolDraft(block: Block, delta: unknown): Step {
  if (typeof delta !== 'string') return nothing
  block.shown = true
  const { toolId, toolName: name, messageId } = block
  return say({ type: 'tool.input.delta', toolId, name, messageId, delta })
}

export function decodeStreamEvent(state: State, native: Fields, raw: string): Step {
  const event = isFields(native.event) ? native.event : native
  const rule = ruleOf(event.type)
  return rule ? rule(state, event, native) : unmapped(`stream_event/${text(event, 'type') ?? '?'}`, raw)
}

/** A half message will be repeated under a new id: whatever of it was shown and never came whole is void. */
export function discardBlocks(state: State, fromIndex: number): Said[] {
  const said: Said[] = []
  for (const [index, block] of state.blocks) {
    if (Number(index) < fromIndex || block.whole) continue
    state.blocks.delete(index)
    if (block.type !== 'tool_use') said.push(...discardMessage(state.ledger, block.messageId))
    else if (block.shown) said.push(...discardDraft(state.ledger, block.messageId))
  }
  return said
}

/** The streamed block that a whole one belongs to: the first of its type in that message that has none yet. */
export function matchBlock(
  state: State,
  messageId: string,
  type: Block['type'],
  toolId = '',
): Block | undefined {
  if (messageId !== state.messageId) return undefined
  for (const block of state.blocks.values()) {
    if (block.type !== type || block.whole) continue
    if (type === 'tool_use' && block.toolId !== toolId) continue
    block.whole = true
    return block
  }
  return undefined
}

/** Identity of a whole block that was never streamed. */
export function unstreamedId(state: State, messageId: string): string {
  const n = state.unstreamed.get(messageId) ?? 0
  state.unstreamed.set(messageId, n + 1)
  return `${messageId}:s${n}`
}
