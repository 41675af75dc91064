import { decide, type ErrorInfo, type Evidence, type Usage } from '../../../model/index.ts'
import type { Decoded, Emitted, Exit, Write } from '../../agent.ts'
import { emit, emitAll, nothing, send, skipped } from '../../kit/decoded.ts'
import { amount, compact, count, type Fields, fields, text } from '../../kit/fields.ts'
import { settle } from '../../kit/settle.ts'
import { answerOf } from '../answer.ts'
import { turnError } from '../errors.ts'
import { denialsOf } from '../refusals.ts'
import { usageOf } from '../usage.ts'
import { interruptTurn } from './calls.ts'
import { findShells, runningCommands } from './shells.ts'
import { type AppServerState, closeTurn, openTurn } from './state.ts'
import { adoptChild, countUsage, endChild, parentOf, wakeChild } from './threads.ts'

/** The end of a turn, as far as the agent reports it. */
export interface CodexEnding {
  evidence: Evidence
  error?: ErrorInfo
  nativeReason?: string
  durationMs?: number
}

export function decodeTurnStarted(state: AppServerState, params: Fields): Decoded {
  const parent = parentOf(state, params)
  const id = text(fields(params, 'turn'), 'id')
  if (id === undefined || state.ended.has(id)) return skipped
  if (parent !== undefined) return emitAll(beginChildTurn(state, parent, id))
  const emitted: Emitted[] = []
  if (!state.turn) {
    openTurn(state)
    emitted.push({ type: 'turn.started', origin: 'agent' })
  }
  return send(beginTurn(state, id), emitted)
}

function beginChildTurn(state: AppServerState, parent: string, id: string): Emitted[] {
  const emitted = wakeChild(state, parent, id)
  const child = state.children.get(parent)
  if (child) child.turn = id
  return emitted
}

/** The turn can be interrupted now: sends an interrupt that was requested too early. */
function beginTurn(state: AppServerState, id: string): Write[] {
  const { turn } = state
  if (!turn) return []
  turn.id = turn.reviews ? (turn.id ?? id) : id
  turn.begun = true
  return turn.interrupting ? interruptTurn(state, id) : []
}

export function decodeTurnCompleted(state: AppServerState, params: Fields): Decoded {
  const parent = parentOf(state, params)
  const native = fields(params, 'turn')
  const id = text(native, 'id')
  const late = id !== undefined && state.ended.has(id)
  if (id !== undefined) state.ended.add(id)
  const status = text(native, 'status')
  const ending: CodexEnding = {
    ...evidenceOf(status, native),
    ...compact({ nativeReason: status, durationMs: amount(native, 'durationMs') }),
  }
  if (parent !== undefined) return late ? skipped : emitAll(endChild(state, parent, childEnd(ending)))
  const other = id !== undefined && state.turn?.id !== undefined && state.turn.id !== id
  if (late || other || !state.turn) return skipped
  const running = ending.evidence === 'aborted' ? runningCommands(state) : []
  const emitted = endTurn(state, ending)
  return send(findShells(state, running), emitted)
}

function evidenceOf(status: string | undefined, native: Fields): Pick<CodexEnding, 'evidence' | 'error'> {
  if (status === 'completed') return { evidence: 'success' }
  return status === 'interrupted' ? { evidence: 'aborted' } : turnError(fields(native, 'error'))
}

function childEnd({ evidence, durationMs }: CodexEnding) {
  const status = evidence === 'success' ? 'success' : evidence === 'aborted' ? 'cancelled' : 'error'
  return { status, ...compact({ durationMs }) } as const
}

/** Settles the open turn; on exit of the process, settles everything else too. */
export function endTurn(state: AppServerState, { evidence, ...ending }: CodexEnding, exit?: Exit): Emitted[] {
  const { ledger, turn } = state
  const denials = denialsOf(state)
  const { personDenials } = ledger
  const emitted = settle(
    ledger,
    decide({ evidence, denials, personDenials }, exit?.cause ?? 'exit', exit?.code),
  )
  if (exit) emitted.push(...endProcess(state))
  const usage = turn?.usage
  if (usage) emitted.push({ type: 'usage.reported', scope: 'turn', ...usage, source: 'computed' })
  emitted.push({
    type: 'turn.verdict',
    evidence,
    ...ending,
    ...(evidence === 'success' && answerOf(turn?.answer, turn?.structured ?? false)),
    ...(usage && { usage }),
    ...(turn?.diff !== undefined && { data: { diff: turn.diff } }),
    // Counted after settling, which may have found more denials.
    denials: denialsOf(state),
    personDenials: ledger.personDenials,
  })
  if (evidence === 'aborted') state.calls.confirmInterrupts()
  closeTurn(state)
  return emitted
}

/** No work outlives the process, not even background work. */
export function endProcess(state: AppServerState): Emitted[] {
  const children = [...state.ledger.subagents.keys()].flatMap((id) =>
    endChild(state, id, { status: 'cancelled' }),
  )
  return [...children, ...settle(state.ledger, 'interrupted', true)]
}

/** One model call. A repeated total, after a resume or an interrupt, repeats the last call. */
export function decodeUsage(state: AppServerState, params: Fields): Decoded {
  const parent = parentOf(state, params)
  const native = fields(params, 'tokenUsage')
  const usage = usageOf(fields(native, 'last'), 'appServer')
  const total = count(fields(native, 'total'), 'totalTokens')
  const thread = text(params, 'threadId')
  const again = total !== undefined && state.totals.get(thread) === total
  if (total !== undefined) state.totals.set(thread, total)
  if (!usage || again) return nothing
  if (parent !== undefined) return emitAll(childUsage(state, parent, usage))
  const turnId = text(params, 'turnId')
  if (turnId !== undefined && state.ended.has(turnId)) return nothing
  if (!state.turn || (turnId !== undefined && turnId !== state.turn.id)) return nothing
  countUsage(state.turn, usage)
  return emit({
    type: 'usage.reported',
    scope: 'step',
    ...usage,
    ...compact({
      contextUsed: count(fields(native, 'last'), 'totalTokens'),
      contextSize: count(native, 'modelContextWindow'),
    }),
    source: 'agent',
  })
}

/** A model call of a sub-agent counts even when it is reported after the sub-agent's end. */
function childUsage(state: AppServerState, id: string, usage: Usage): Emitted[] {
  const emitted = adoptChild(state, id)
  const child = state.children.get(id)
  if (child) countUsage(child, usage)
  // Between two turns it belongs to neither: the session counts this report.
  if (state.turn) countUsage(state.turn, usage)
  return [
    ...emitted,
    { type: 'usage.reported', scope: 'subagent', subagentId: id, ...usage, source: 'agent' },
  ]
}

/** The diff of the whole turn so far: stored for its end, because each change reports its own part. */
export function decodeDiff(state: AppServerState, params: Fields): Decoded {
  if (state.turn && parentOf(state, params) === undefined) state.turn.diff = text(params, 'diff')
  return nothing
}
