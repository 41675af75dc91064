import type { DeniedBy } from '../../model/index.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, unmapped } from '../kit/decoded.ts'
import { compact, count, type Fields, fields, flag, int, isFields, list, only, text } from '../kit/fields.ts'
import { completeMessage, discardMessage } from '../kit/messages.ts'
import { ruleTable } from '../kit/rules.ts'
import { finishTool, openToolId, startTool, type ToolResult, toolIdOf } from '../kit/tools.ts'
import { adoptSubagent, returnTask } from './background.ts'
import { ownsMessage, strayBlocks } from './binding.ts'
import { errorCodeOf } from './errors.ts'
import type { ClaudeState } from './state.ts'
import { foldSteers, passSteers } from './steers.ts'
import { discardBlocks, matchBlock, streamOf, unstreamedId } from './stream.ts'
import { noteTaskCall, planAfter } from './tasks.ts'
import { EXIT_PLAN, exitCodeIn, fileChange, kindOf, locationsOf, pathIn, titleOf } from './tools.ts'
import { noteInnerCall } from './turn-usage.ts'

/** Decodes complete blocks, one or more per line; their deltas, if any, came before. */
export function decodeAssistant(state: ClaudeState, native: Fields, raw: string): Decoded {
  const message = fields(native, 'message')
  const content = blocksOf(message)
  if (isFailure(native, message)) return failure(state, native, content)
  const id = text(message, 'id') ?? ''
  const parent = text(native, 'parent_tool_use_id')
  if (parent === undefined && !ownsMessage(state, native, id)) return emitAll(strayBlocks(content))
  // Older versions repeat a broken stream as a complete message without discarding the partial one.
  const stream = streamOf(state, parent)
  const emitted = stream && id !== stream.messageId ? discardBlocks(state, stream) : []
  if (parent === undefined && id !== state.turn.stream.messageId) emitted.push(...foldSteers(state))
  emitted.push(...adoptSubagent(state, parent))
  if (parent !== undefined) noteInnerCall(state, parent, id, fields(message, 'usage'))
  let strange: string | undefined
  for (const block of content) {
    if (!isFields(block)) continue
    const type = text(block, 'type')
    if (type === 'text' || type === 'thinking') {
      const messageId = matchBlock(stream, id, type)?.messageId ?? unstreamedId(state, id)
      const whole = text(block, type) ?? ''
      emitted.push(
        completeMessage(state.ledger, type, messageId, whole, { parent, partial: flag(native, 'aborted') }),
      )
    } else if (type === 'tool_use') {
      emitted.push(...toolStarted(state, native, block, id))
    } else if (type !== 'redacted_thinking') {
      strange ??= type ?? '?'
    }
  }
  return strange === undefined ? emitAll(emitted) : unmapped(`assistant/${strange}`, raw, emitted)
}

/** The content of an answer is a list of blocks, or a text alone. */
function blocksOf({ content }: Fields): readonly unknown[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

function toolStarted(state: ClaudeState, native: Fields, block: Fields, message: string): Emitted[] {
  const parent = text(native, 'parent_tool_use_id')
  const toolId = text(block, 'id') ?? unstreamedId(state, message)
  const name = text(block, 'name') ?? '?'
  const messageId = matchBlock(streamOf(state, parent), message, 'tool_use', toolId)?.messageId
  if (openToolId(state.ledger, toolId)) return []
  // The structured output of a sub-agent is the answer to its parent.
  if (name === 'StructuredOutput' && parent === undefined) {
    state.turn.evidence.structuredCall = { toolId, output: block.input }
  }
  if (name === EXIT_PLAN) state.turn.plan = { toolId, input: block.input }
  noteTaskCall(state.tasks, name, toolId, block.input)
  // Tools of MCP servers have display names.
  const title = titleOf(block.input) ?? text(entryOf(native, 'tool_use_meta', toolId), 'display_name')
  const locations = locationsOf(block.input)
  return [
    startTool(state.ledger, {
      toolId,
      name,
      kind: kindOf(name),
      ...(title !== undefined && { title }),
      ...(block.input !== undefined && { input: block.input }),
      ...(locations.length > 0 && { locations }),
      ...(messageId !== undefined && { messageId }),
      ...(parent !== undefined && { parent }),
    }),
  ]
}

/** The client itself wrote the message: an API failure, or the output of a local command. */
function isFailure(native: Fields, message: Fields): boolean {
  if (flag(native, 'is_api_error_message')) return true
  const ofCommand = native.local_command_source !== undefined || native.local_command_run !== undefined
  return message.model === '<synthetic>' && !ofCommand
}

/** An API failure must not appear as the answer. */
function failure(state: ClaudeState, native: Fields, content: readonly unknown[]): Decoded {
  const message = content.map((block) => (isFields(block) ? (text(block, 'text') ?? '') : '')).join('\n')
  const status = int(native, 'api_error_status')
  const word = text(native, 'error')
  // The failure of a sub-agent does not fail the turn.
  if (text(native, 'parent_tool_use_id') === undefined)
    state.turn.evidence.apiError = { code: errorCodeOf(status, word, message), message, word }
  const data = compact({ status, error: word, type: text(native, 'api_error_type') })
  return emit({ type: 'notice.raised', level: 'error', code: 'agent_error', message, data })
}

/** Decodes tool results and messages on behalf of the user. */
export function decodeUser(state: ClaudeState, native: Fields, raw: string): Decoded {
  const content = fields(native, 'message').content
  if (typeof content === 'string') {
    // The output of a local command, such as the confirmation of a model change.
    return emit({ type: 'notice.raised', level: 'info', code: 'agent_warning', message: content })
  }
  if (!Array.isArray(content)) return unmapped('user', raw)
  const emitted = adoptSubagent(state, text(native, 'parent_tool_use_id'))
  const owner = ownerOf(state, native.tool_use_result, content)
  let strange: string | undefined
  for (const block of content) {
    if (!isFields(block)) continue
    if (block.type === 'tool_result') {
      // A second result, or one for an unknown call, is kept whole.
      if (!isOpen(state, block)) strange ??= 'tool_result'
      emitted.push(...toolResult(state, native, block, owner))
    } else if (block.type === 'text') emitted.push(...decodeUserText(state, native))
    else if (block.type !== 'image') strange ??= text(block, 'type') ?? '?'
  }
  return strange === undefined ? emitAll(emitted) : unmapped(`user/${strange}`, raw, emitted)
}

/** Our prompt repeated, a child's prompt, or a remark for the model: only a refused message matters. */
function decodeUserText(state: ClaudeState, native: Fields): Emitted[] {
  const refused = text(native, 'refused_message_id')
  const stream = streamOf(state, text(native, 'parent_tool_use_id'))
  if (refused === undefined || refused !== stream?.messageId) return []
  const emitted: Emitted[] = []
  for (const block of stream.blocks.values()) {
    if (!block.whole) emitted.push(...discardMessage(state.ledger, block.messageId, 'refused'))
  }
  return emitted
}

function isOpen({ ledger }: ClaudeState, block: Fields): boolean {
  return openToolId(ledger, text(block, 'tool_use_id') ?? '') !== undefined
}

/** A line has one structured result: that of its only call, or of the call that edits the file it names. */
function ownerOf(state: ClaudeState, data: unknown, content: readonly unknown[]): unknown {
  if (content.length === 1 || !isFields(data)) return content[0]
  const results = only(content, isFields).filter((block) => block.type === 'tool_result')
  if (results.length < 2) return results[0]
  const path = pathIn(data)
  return results.find((block) => {
    const call = state.ledger.tools.get(toolIdOf(state.ledger, text(block, 'tool_use_id') ?? ''))
    return call?.kind === 'edit' && call.locations?.some((location) => location.path === path)
  })
}

function toolResult(state: ClaudeState, native: Fields, block: Fields, owner: unknown): Emitted[] {
  const id = text(block, 'tool_use_id') ?? ''
  const output = outputOf(block.content)
  const data = native.tool_use_result
  const structured = block === owner && isFields(data) ? data : undefined
  const status = statusOf(state, native, block, id)
  const exitCode = status.status === 'error' ? exitCodeIn(output) : undefined
  const durationMs = structured && (count(structured, 'totalDurationMs') ?? count(structured, 'durationMs'))
  const result: ToolResult = {
    ...status,
    output,
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
    ...(structured && { data: structured }),
    ...(structured && text(structured, 'persistedOutputPath') !== undefined && { truncated: true }),
  }
  if (text(native, 'parent_tool_use_id') === undefined) passSteers(state)
  if (!state.turn.open && status.deniedBy === 'person') state.turn.refusedBetween.add(id)
  if (state.turn.evidence.structuredCall?.toolId === id && status.status === 'success') {
    state.turn.evidence.structured = state.turn.evidence.structuredCall.output
  }
  const emitted = planChange(state, id, result.status, structured)
  emitted.push(...finishTool(state.ledger, id, result, structured ? fileChange(structured) : []))
  // Staying in the requested plan mode denies nothing that the task needed.
  const stayed = state.turn.plan?.toolId === id && result.deniedBy === 'policy' && emitted.length > 0
  if (stayed) state.ledger.denials--
  emitted.push(...returnTask(state, id, status.status, structured))
  return emitted
}

/** Only open calls count. */
function planChange(state: ClaudeState, id: string, status: string, result: Fields | undefined): Emitted[] {
  const call = state.ledger.tools.get(toolIdOf(state.ledger, id))
  if (!call) return []
  const { name, parent } = call
  return planAfter(state.tasks, { id, name, parent, succeeded: status === 'success' }, result)
}

function outputOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (isFields(part) ? (text(part, 'text') ?? `[${text(part, 'type')}]`) : ''))
    .join('\n')
}

const deniedBy = ruleTable<DeniedBy>({
  user_reject: 'person',
  user_temporary: 'person',
  user_permanent: 'person',
  hook: 'hook',
  config: 'policy',
})

const NO_ENTRY: Fields = {}

/** The metadata of one call in a message. */
function entryOf(native: Fields, key: string, toolId: string): Fields {
  return list(native, key).find((item): item is Fields => isFields(item) && item.id === toolId) ?? NO_ENTRY
}

function statusOf(
  state: ClaudeState,
  native: Fields,
  block: Fields,
  id: string,
): Pick<ToolResult, 'status' | 'deniedBy'> {
  const meta = entryOf(native, 'tool_result_meta', id)
  const decision = fields(meta, 'permission_decision')
  const refusedBy = state.ledger.tools.get(toolIdOf(state.ledger, id))?.refusedBy
  if (refusedBy) return { status: 'denied', deniedBy: refusedBy }
  if (text(decision, 'decision') === 'reject') {
    return { status: 'denied', deniedBy: deniedBy(decision.source) ?? 'policy' }
  }
  // Rejected without a decision: the turn or the sub-agent was cancelled while the call ran or waited.
  const kind = text(meta, 'non_execution_kind')
  if (kind === 'user-rejected' || kind === 'interrupted') return { status: 'cancelled' }
  return { status: flag(block, 'is_error') ? 'error' : 'success' }
}
