import { addUsage } from '../../../model/index.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emitAll, held, skipped, unmapped } from '../../kit/decoded.ts'
import { compact, type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { updateSession } from '../../kit/known.ts'
import { finishSubagent } from '../../kit/subagents.ts'
import { openTurn, runningTurn, strayText } from './between-turns.ts'
import { addText, closeBlock, discardBlock, releaseAside } from './blocks.ts'
import type { AcpQuirks } from './launch/quirks.ts'
import type { AcpState, AcpTurn } from './state.ts'
import { usageOf } from './usage.ts'

export function decodeMessageChunk(state: AcpState, update: Fields, raw: string): Decoded {
  const piece = text(fields(update, 'content'), 'text')
  if (piece === undefined) return state.replaying ? skipped : unmappedChunk(update, raw)
  const nativeId = text(update, 'messageId')
  const remarked = remark(state, nativeId, piece)
  if (remarked) return emitAll(remarked)
  if (state.replaying) return skipped
  const turn = runningTurn(state)
  const isPlain = turn !== undefined && update._meta === undefined
  const emitted = isPlain ? spoken(state, turn, nativeId, piece) : annotated(state, update, nativeId, piece)
  // A text that may be a failure is reported when the next frame shows what it is.
  return runningTurn(state)?.aside ? held(emitted) : emitAll(emitted)
}

export function decodeThoughtChunk(state: AcpState, update: Fields, raw: string): Decoded {
  if (state.replaying) return skipped
  const piece = text(fields(update, 'content'), 'text')
  if (piece === undefined) return unmappedChunk(update, raw)
  const meta = isFields(update._meta) ? update._meta : undefined
  const emitted = openTurn(state, meta)
  const turn = runningTurn(state)
  if (!turn) return emitAll(strayText(piece))
  if (piece === '') return emitAll(emitted)
  emitted.push(...releaseAside(state, turn))
  const nativeId = text(update, 'messageId')
  emitted.push(...addText(state, turn, { kind: 'thinking', nativeId, parent: parentOf(meta), text: piece }))
  return emitAll(emitted)
}

/** Images and links are not text: they are kept whole. */
function unmappedChunk(update: Fields, raw: string): Decoded {
  const type = text(fields(update, 'content'), 'type') ?? '?'
  return unmapped(`${text(update, 'sessionUpdate') ?? '?'}/${type}`, raw)
}

/** A chunk with metadata besides its text, or outside of a turn. */
function annotated(state: AcpState, update: Fields, nativeId: string | undefined, piece: string): Emitted[] {
  const meta = isFields(update._meta) ? update._meta : undefined
  const ended = meta && backgroundEnded(state, meta, piece)
  if (ended) return ended
  const emitted = openTurn(state, meta)
  const turn = runningTurn(state)
  if (!turn) return strayText(piece)
  if (meta) emitted.push(...stepUsage(state, turn, meta))
  emitted.push(...spoken(state, turn, nativeId, piece, parentOf(meta)))
  return emitted
}

export function parentOf(meta: Fields | undefined): string | undefined {
  return meta && text(fields(meta, 'claudeCode'), 'parentToolUseId')
}

function spoken(
  state: AcpState,
  turn: AcpTurn,
  nativeId: string | undefined,
  piece: string,
  parent?: string,
): Emitted[] {
  if (piece === '') return []
  const suspicious = parent === undefined && mayBeFailure(state.quirks, nativeId, piece)
  const said = { kind: 'text' as const, nativeId, parent, text: piece }
  if (!suspicious && !turn.aside) return addText(state, turn, said)
  const emitted = releaseAside(state, turn)
  if (suspicious) turn.aside = { nativeId, text: piece }
  else emitted.push(...addText(state, turn, said))
  return emitted
}

function mayBeFailure(quirks: AcpQuirks, nativeId: string | undefined, piece: string): boolean {
  const { failure } = quirks
  if (quirks.failureHasNoId && nativeId === undefined) return true
  return failure !== undefined && piece.startsWith(failure)
}

/** Text of the program itself instead of the model. */
function remark(state: AcpState, nativeId: string | undefined, piece: string): Emitted[] | undefined {
  const { quirks, turn } = state
  if (quirks.modeUpdate !== undefined && piece.startsWith(quirks.modeUpdate)) {
    return updateSession(state, { mode: piece.slice(quirks.modeUpdate.length).trim() })
  }
  if (nativeId !== undefined || piece === '') return undefined
  if (turn?.failed) {
    turn.failure = piece
    return [{ type: 'notice.raised', level: 'error', code: 'agent_error', message: piece }]
  }
  const { retry } = quirks
  if (turn && retry && piece.startsWith(retry.starts) && piece.endsWith(retry.ends)) {
    return [...discardBlock(state, turn), { type: 'limit.reported', kind: 'retry', message: piece }]
  }
  const known = quirks.remarks.find(({ starts }) => piece.startsWith(starts))
  return known && [{ type: 'notice.raised', level: known.level, code: 'agent_warning', message: piece }]
}

/** Background work has ended: reported as a message, about the call that started it. */
function backgroundEnded(state: AcpState, meta: Fields, message: string): Emitted[] | undefined {
  const source = text(meta, 'source')
  if (source !== 'background_task_completed' && source !== 'background_notification') return undefined
  // It is reported twice; the second time it starts a turn of the agent.
  if (source === 'background_notification') return openTurn(state, meta)
  const task = fields(meta, 'backgroundTask')
  const toolId = text(task, 'toolUseId')
  const status = text(task, 'status')
  const ended = status === 'completed' ? 'success' : status === 'failed' ? 'error' : 'cancelled'
  const emitted = toolId === undefined ? [] : finishSubagent(state.ledger, toolId, { status: ended })
  const data = compact({ toolId, status, description: text(task, 'description') })
  emitted.push({ type: 'notice.raised', level: 'info', code: 'background_finished', message, data })
  return emitted
}

/** One agent reports the usage of every model call in an empty chunk at its end. */
function stepUsage(state: AcpState, turn: AcpTurn, meta: Fields): Emitted[] {
  const usage = usageOf(fields(meta, 'usage'))
  if (!usage) return []
  turn.steps = turn.steps ? addUsage(turn.steps, usage) : usage
  return [...closeBlock(state, turn), { type: 'usage.reported', scope: 'step', ...usage, source: 'agent' }]
}
