import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, held, nothing, unmapped } from '../kit/decoded.ts'
import { type Fields, fields, flag, isFields, list, number, text } from '../kit/fields.ts'
import { updateSession } from '../kit/known.ts'
import { addDelta, closeMessage, completeMessage, discardDraft, discardMessage } from '../kit/messages.ts'
import { type FrameRule, ruleTable } from '../kit/rules.ts'
import { toolIdOf } from '../kit/tools.ts'
import type { PiBlock, PiState } from './state.ts'
import { textOf } from './tools.ts'
import { addToTurn, usageOf } from './usage.ts'

const beginningOf = ruleTable<FrameRule<PiState>>({
  assistant(state, message) {
    state.messageId = text(message, 'responseId') ?? `e${state.start.epoch}.m${++state.messages}`
    state.turn.blocks = new Map()
    return emitAll(updateSession(state, { model: modelName(message) }))
  },

  // The system prompt and its changes; only the declared tools are mapped.
  system(state, message) {
    const names = (key: string) =>
      list(message, key).flatMap((tool) => (isFields(tool) ? (text(tool, 'name') ?? []) : []))
    for (const name of names('toolsRemoved')) state.tools.delete(name)
    for (const name of names('toolsAdded')) state.tools.add(name)
    return emitAll(updateSession(state, { tools: [...state.tools] }))
  },

  user(state, message) {
    // Our prompt repeated, or one that joined the turn.
    if (!state.turn.awaitsEcho) {
      if (!state.turn.open) return nothing
      return emit({ type: 'turn.steered', prompt: textOf(message.content), effect: 'folded' })
    }
    state.turn.awaitsEcho = false
    return nothing
  },

  // Reported when complete.
  custom: () => nothing,
  // The end of its call reported it.
  toolResult: () => nothing,
  // Context that was reported when it was created.
  bashExecution: () => nothing,
  branchSummary: () => nothing,
  compactionSummary: () => nothing,
})

const endOf = ruleTable<FrameRule<PiState>>({
  assistant(state, message) {
    state.turn.last = message
    const emitted: Emitted[] = isCut(message) ? [] : completeBlocks(state, message)
    const usage = usageOf(fields(message, 'usage'))
    // The end of the run reports a message that was cut.
    const done = isCut(message) ? held : emitAll
    if (!usage) return done(emitted)
    addToTurn(state, usage)
    const model = modelName(message)
    emitted.push({
      type: 'usage.reported',
      scope: 'step',
      ...usage,
      ...(model !== undefined && { model }),
      source: 'agent',
    })
    return done(emitted)
  },

  custom(_state, message) {
    const data = {
      customType: message.customType,
      ...(message.details !== undefined && { details: message.details }),
    }
    return emit({
      type: 'notice.raised',
      level: 'info',
      code: 'agent_warning',
      message: textOf(message.content),
      data,
    })
  },

  system: () => nothing,
  user: () => nothing,
  toolResult: () => nothing,
  bashExecution: () => nothing,
  branchSummary: () => nothing,
  compactionSummary: () => nothing,
})

export function decodeMessageStart(state: PiState, native: Fields, raw: string): Decoded {
  const message = fields(native, 'message')
  const rule = beginningOf(message.role)
  return rule ? rule(state, message, raw) : unmapped(`message_start/${text(message, 'role') ?? '?'}`, raw)
}

export function decodeMessageEnd(state: PiState, native: Fields, raw: string): Decoded {
  const message = fields(native, 'message')
  const rule = endOf(message.role)
  return rule ? rule(state, message, raw) : unmapped(`message_end/${text(message, 'role') ?? '?'}`, raw)
}

function modelName(message: Fields): string | undefined {
  const provider = text(message, 'provider')
  const model = text(message, 'model') ?? text(message, 'id')
  return provider === undefined || model === undefined ? undefined : `${provider}/${model}`
}

/** Only the end of the run shows whether a message that ended this way is repeated. */
function isCut(message: Fields): boolean {
  const reason = text(message, 'stopReason')
  return reason === 'error' || reason === 'aborted'
}

type PieceRule = (state: PiState, event: Fields, index: number) => Decoded

const pieceOf = ruleTable<PieceRule>({
  text_delta: (state, event, index) => addPiece(state, 'text', event, index),
  thinking_delta: (state, event, index) => addPiece(state, 'thinking', event, index),

  toolcall_start(state, event, index) {
    const toolId = toolIdOf(state.ledger, text(event, 'id') ?? '?')
    const name = text(event, 'toolName') ?? '?'
    state.turn.blocks.set(index, {
      type: 'call',
      messageId: blockId(state, index),
      toolId,
      name,
      shown: false,
    })
    return nothing
  },

  toolcall_delta(state, event, index) {
    const block = state.turn.blocks.get(index)
    const delta = text(event, 'delta')
    if (block?.type !== 'call' || delta === undefined) return nothing
    block.shown = true
    const { toolId, name, messageId } = block
    return emit({ type: 'tool.input.delta', toolId, name, messageId, delta })
  },

  // The end of the message contains the complete text, unless the stream breaks before: then it is repeated.
  text_start: () => nothing,
  text_end: () => nothing,
  thinking_start: () => nothing,
  thinking_end: () => nothing,
  toolcall_end: () => nothing,
  // The start and the end of the message report the same.
  start: () => nothing,
  done: () => nothing,
  error: () => nothing,
})

export function decodeMessageUpdate(state: PiState, native: Fields, raw: string): Decoded {
  const event = fields(native, 'assistantMessageEvent')
  const rule = pieceOf(event.type)
  if (!rule) return unmapped(`message_update/${text(event, 'type') ?? '?'}`, raw)
  return rule(state, event, number(event, 'contentIndex') ?? 0)
}

function blockId(state: PiState, index: number): string {
  return `${state.messageId}.${index}`
}

function addPiece(state: PiState, type: 'text' | 'thinking', event: Fields, index: number): Decoded {
  const delta = text(event, 'delta')
  if (!delta) return nothing
  const messageId = blockId(state, index)
  if (!state.turn.blocks.has(index)) state.turn.blocks.set(index, { type, messageId })
  return emit(addDelta(state.ledger, type, messageId, delta))
}

/** The complete message replaces the text received in deltas. */
function completeBlocks(state: PiState, message: Fields): Emitted[] {
  const emitted: Emitted[] = []
  for (const [index, block] of list(message, 'content').entries()) {
    if (!isFields(block)) continue
    const type = text(block, 'type')
    if (type !== 'text' && type !== 'thinking') continue
    const whole = text(block, type) ?? ''
    const streamed = state.turn.blocks.get(index)
    if (whole === '' && streamed === undefined) continue
    emitted.push(completeMessage(state.ledger, type, streamed?.messageId ?? blockId(state, index), whole))
    state.turn.blocks.delete(index)
  }
  for (const block of state.turn.blocks.values()) emitted.push(...closeBlock(state, block))
  state.turn.blocks = new Map()
  return emitted
}

function closeBlock(state: PiState, block: PiBlock): Emitted[] {
  return block.type === 'call' ? [] : closeMessage(state.ledger, block.messageId, true)
}

/** The end of a run shows whether a message that was cut off is repeated. */
export function decodeRunEnd(state: PiState, native: Fields): Decoded {
  const repeats = flag(native, 'willRetry')
  const emitted: Emitted[] = []
  for (const block of state.turn.blocks.values()) {
    if (!repeats) emitted.push(...closeBlock(state, block))
    else if (block.type !== 'call') emitted.push(...discardMessage(state.ledger, block.messageId))
    else if (block.shown) emitted.push(...discardDraft(state.ledger, block.messageId))
  }
  state.turn.blocks = new Map()
  return emitAll(emitted)
}
