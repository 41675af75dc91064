import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, held, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import { compact, count, type Fields, fields, list, text } from '../../kit/fields.ts'
import { addDelta, closeMessage, completeMessage } from '../../kit/messages.ts'
import { ruleTable } from '../../kit/rules.ts'
import { progressTool } from '../../kit/tools.ts'
import { answerText, joinedText } from '../answer.ts'
import { callRules, decodeCall, type ItemPhase } from '../calls.ts'
import { endedAgents, spawnedAgents } from '../subagents.ts'
import type { AppServerState } from './state.ts'
import { adoptChild, cutHalves, endChild, isLate, parentOf, remainderOf, startChild } from './threads.ts'

interface ItemPosition {
  phase: ItemPhase
  parent: string | undefined
}

type ItemRule = (state: AppServerState, id: string, item: Fields, position: ItemPosition) => Emitted[]

const answer: ItemRule = (state, id, item, { phase, parent }) => {
  if (phase !== 'completed') return []
  const whole = answerText(item)
  if (whole === undefined) return closeMessage(state.ledger, id)
  const author = parent === undefined ? state.turn : state.children.get(parent)
  if (author) author.answer = whole
  const rest = remainderOf(state, id, whole)
  if (rest === undefined) return closeMessage(state.ledger, id)
  return [completeMessage(state.ledger, 'text', id, rest, { parent, phase: phaseOf(item.phase) })]
}

const itemRule = ruleTable<ItemRule>({
  agentMessage: answer,
  // A proposed plan is also an answer: it needs no approval, and the turn ends with it.
  plan: answer,

  reasoning(state, id, item, { phase, parent }) {
    if (phase !== 'completed') return []
    state.parts.delete(contentId(id))
    return [
      ...thought(state, id, joinedText(item.summary), parent),
      ...thought(state, contentId(id), joinedText(item.content), parent),
    ]
  },

  // User messages: the prompt of the turn first, then steering prompts.
  userMessage(state, _id, item, { phase, parent }) {
    const { turn } = state
    if (phase !== 'started' || parent !== undefined || !turn) return []
    if (!turn.prompted) {
      turn.prompted = true
      return []
    }
    const cut = cutHalves(state)
    const prompt = inputText(item)
    return [...cut, { type: 'turn.steered', prompt, effect: cut.length > 0 ? 'restarted' : 'folded' }]
  },

  enteredReviewMode: () => [],

  // A message follows that repeats it.
  exitedReviewMode(state, _id, item) {
    if (state.turn) state.turn.answer = text(item, 'review')
    return []
  },

  contextCompaction: (_state, _id, _item, { phase }) =>
    phase === 'completed' ? [{ type: 'context.compacted' }] : [],
})

const phaseOf = ruleTable<'commentary' | 'final'>({ commentary: 'commentary', final_answer: 'final' })

/** Raw thinking next to its summary is a separate message. */
const contentId = (id: string) => `${id}:content`

function thought(
  state: AppServerState,
  id: string,
  whole: string | undefined,
  parent: string | undefined,
): Emitted[] {
  const rest = whole === undefined ? undefined : remainderOf(state, id, whole)
  if (rest === undefined) return closeMessage(state.ledger, id)
  return [completeMessage(state.ledger, 'thinking', id, rest, { parent })]
}

/** The text of a prompt from any client. */
export function inputText(of: Fields, key = 'content'): string {
  return list(of, key)
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : ''))
    .join('')
}

export function decodeItem(state: AppServerState, phase: ItemPhase, params: Fields, raw: string): Decoded {
  const item = fields(params, 'item')
  const type = text(item, 'type')
  const id = text(item, 'id') ?? '?'
  const parent = parentOf(state, params)
  // The parent's thread reports it, often after its turn: it must not count as late.
  if (type === 'subAgentActivity') return emitAll(decodeActivity(state, id, item, parent))
  if (isLate(state, params, parent)) return skipped
  const adopted = parent === undefined ? [] : adoptChild(state, parent)
  // The part before the cut is complete; only the rest is reported.
  const wasCut = state.span.cuts.has(id) || state.span.cuts.has(contentId(id))
  const rule = itemRule(type)
  const emitted = rule
    ? rule(state, id, item, { phase, parent })
    : decodeTool(state, id, item, { phase, parent })
  if (!emitted) return unmapped(`item/${type ?? '?'}`, raw)
  return (wasCut ? held : emitAll)([...adopted, ...emitted])
}

const callRuleOf = ruleTable(callRules)

function decodeTool(
  state: AppServerState,
  id: string,
  item: Fields,
  { phase, parent }: ItemPosition,
): Emitted[] | undefined {
  const rule = callRuleOf(item.type)
  if (!rule) return undefined
  const emitted = decodeCall(state, rule, phase, id, item, parent)
  if (!rule.agents || phase !== 'completed') return emitted
  for (const agent of spawnedAgents(item, id, parent)) emitted.push(...startChild(state, agent))
  for (const { id: thread, ...end } of endedAgents(item)) emitted.push(...endChild(state, thread, end))
  return emitted
}

/** A sub-agent of the newer kind: started, messaged, interrupted or completed. */
function decodeActivity(
  state: AppServerState,
  id: string,
  item: Fields,
  parent: string | undefined,
): Emitted[] {
  const threadId = text(item, 'agentThreadId') ?? '?'
  const label = text(item, 'agentPath')?.split('/').at(-1) || 'sub-agent'
  switch (text(item, 'kind')) {
    case 'started':
      return startChild(state, {
        id: threadId,
        toolId: id,
        label,
        ...compact({ model: text(item, 'model'), parent }),
      })
    case 'completed':
      return endChild(state, threadId, { status: 'success' })
    case 'interrupted':
      return endChild(state, threadId, { status: 'cancelled' })
    default:
      return []
  }
}

const NONE_ADOPTED: readonly Emitted[] = []

/** A delta of a message. The hottest rule of all. */
function decodeDelta(kind: 'text' | 'thinking', idOf: (params: Fields) => string) {
  return (state: AppServerState, params: Fields): Decoded => {
    const piece = text(params, 'delta')
    const parent = parentOf(state, params)
    if (isLate(state, params, parent)) return skipped
    if (piece === undefined) return nothing
    const adopted = parent === undefined ? NONE_ADOPTED : adoptChild(state, parent)
    const emitted = addDelta(state.ledger, kind, idOf(params), piece, parent)
    return adopted.length === 0 ? emit(emitted) : emit(...adopted, emitted)
  }
}

const itemId = (params: Fields) => text(params, 'itemId') ?? '?'

export const decodeText = decodeDelta('text', itemId)
export const decodeSummary = decodeDelta('thinking', itemId)
const decodeRaw = decodeDelta('thinking', (params) => contentId(itemId(params)))

/** Only the part number shows that another part of the raw thinking starts. */
export function decodeThought(state: AppServerState, params: Fields): Decoded {
  const id = contentId(itemId(params))
  const part = count(params, 'contentIndex') ?? 0
  const before = state.parts.get(id)
  if (part === before) return decodeRaw(state, params)
  state.parts.set(id, part)
  const delta = text(params, 'delta')
  const parted = before !== undefined && delta !== undefined
  return decodeRaw(state, parted ? { ...params, delta: `\n\n${delta}` } : params)
}

/** Joins the parts of a summary with an empty line, as in its complete text. */
export function decodeSummaryPart(state: AppServerState, params: Fields): Decoded {
  const id = itemId(params)
  const first = !state.ledger.messages.has(id) && !state.span.cuts.has(id)
  return first ? nothing : decodeSummary(state, { ...params, delta: '\n\n' })
}

/** Output of a running command. Its start may be missing; the result has all of it. */
export function decodeOutput(state: AppServerState, params: Fields): Decoded {
  const output = text(params, 'delta') ?? ''
  return emitAll(progressTool(state.ledger, itemId(params), { output }))
}

export function decodeToolMessage(state: AppServerState, params: Fields): Decoded {
  const message = text(params, 'message') ?? ''
  return emitAll(progressTool(state.ledger, itemId(params), { message }))
}
