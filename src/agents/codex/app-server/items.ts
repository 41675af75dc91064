import type { Said, Step } from '../../agent.ts'
import { compact, type Fields, fields, list, text, texts } from '../../fields.ts'
import { addDelta, closeMessage, completeMessage, progressTool } from '../../ledger.ts'
import { ruleTable } from '../../rules.ts'
import { nothing, say, sayAll, unmapped } from '../../step.ts'
import { decodeCall, type Phase } from '../calls.ts'
import { endedAgents, spawnedAgents } from '../subagents.ts'
import type { State } from './state.ts'
import { childOf, cutHalves, endChild, parentOf, startChild } from './threads.ts'

interface Place {
  phase: Phase
  parent: string | undefined
}

type ItemRule = (state: State, id: string, item: Fields, place: Place) => Said[]

const answer: ItemRule = (state, id, item, { phase, parent }) => {
  if (phase !== 'completed') return []
  const whole = text(item, 'text')
  if (whole === undefined) return closeMessage(state.ledger, id)
  const author = parent === undefined ? state.turn : state.children.get(parent)
  if (author) author.answer = whole
  return [completeMessage(state.ledger, 'text', id, whole, { parent, phase: phaseOf(item.phase) })]
}

const itemRule = ruleTable<ItemRule>({
  agentMessage: answer,
  // A plan that it proposes is an answer too: nobody is asked to approve it, and the turn ends with it.
  plan: answer,

  reasoning(state, id, item, { phase, parent }) {
    if (phase !== 'completed') return []
    return [
      ...thought(state, id, texts(item, 'summary'), parent),
      ...thought(state, contentId(id), texts(item, 'content'), parent),
    ]
  },

  // What was said in the user's name: the prompt of the turn first, and then whatever steers it.
  userMessage(state, _id, item, { phase, parent }) {
    const { turn } = state
    if (phase !== 'started' || parent !== undefined || !turn) return []
    if (!turn.prompted) {
      turn.prompted = true
      return []
    }
    const cut = cutHalves(state, undefined)
    const prompt = inputText(item)
    return [...cut, { type: 'turn.steered', prompt, effect: cut.length > 0 ? 'restarted' : 'folded' }]
  },

  contextCompaction: (_state, _id, _item, { phase }) =>
    phase === 'completed' ? [{ type: 'context.compacted' }] : [],
})

const phaseOf = ruleTable<'commentary' | 'final'>({ commentary: 'commentary', final_answer: 'final' })

/** Raw thoughts beside their summary are a message of their own. */
const contentId = (id: string) => `${id}:content`

function thought(state: State, id: string, parts: string[] | undefined, parent: string | undefined): Said[] {
  if (!parts || parts.length === 0) return closeMessage(state.ledger, id)
  return [completeMessage(state.ledger, 'thinking', id, parts.join('\n\n'), { parent })]
}

/** The text of a prompt, whoever wrote it. */
export function inputText(of: Fields, key = 'content'): string {
  return list(of, key)
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : ''))
    .join('')
}

export function decodeItem(state: State, phase: Phase, params: Fields, raw: string): Step {
  const item = fields(params, 'item')
  const type = text(item, 'type')
  const id = text(item, 'id') ?? '?'
  const parent = parentOf(state, params)
  // Told by the parent's thread, often after its turn: it must not be taken for late.
  if (type === 'subAgentActivity') return sayAll(decodeActivity(state, id, item, parent))
  if (isLate(state, params)) return nothing
  const adopted = parent === undefined ? [] : childOf(state, parent).said
  const rule = itemRule(type)
  const said = rule
    ? rule(state, id, item, { phase, parent })
    : decodeTool(state, id, item, { phase, parent })
  return said ? sayAll([...adopted, ...said]) : unmapped(`item/${type ?? '?'}`, raw)
}

function isLate(state: State, params: Fields): boolean {
  const turnId = text(params, 'turnId')
  // The open turn first: comparing is cheaper than looking up.
  return turnId !== undefined && turnId !== state.turn?.id && state.ended.has(turnId)
}

function decodeTool(state: State, id: string, item: Fields, { phase, parent }: Place): Said[] | undefined {
  const said = decodeCall(state.ledger, phase, id, item, parent)
  if (!said) return undefined
  for (const one of said) if (one.type === 'tool.started') state.inputs.set(one.toolId, one.input)
  if (phase !== 'completed') return said
  for (const agent of spawnedAgents(item, id, parent)) said.push(...startChild(state, agent))
  for (const { id: thread, status } of endedAgents(item)) said.push(...endChild(state, thread, { status }))
  return said
}

/** A sub-agent of the newer kind: started, spoken to, interrupted or completed. */
function decodeActivity(state: State, id: string, item: Fields, parent: string | undefined): Said[] {
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

/** A piece of a message. The hottest rule of all. */
function decodeDelta(kind: 'text' | 'thinking', idOf: (params: Fields) => string) {
  return (state: State, params: Fields): Step => {
    const piece = text(params, 'delta')
    if (piece === undefined || isLate(state, params)) return nothing
    const parent = parentOf(state, params)
    const said = addDelta(state.ledger, kind, idOf(params), piece, parent)
    return parent === undefined ? say(said) : say(...childOf(state, parent).said, said)
  }
}

const itemId = (params: Fields) => text(params, 'itemId') ?? '?'

export const decodeText = decodeDelta('text', itemId)
export const decodeSummary = decodeDelta('thinking', itemId)
export const decodeThought = decodeDelta('thinking', (params) => contentId(itemId(params)))

/** Parts of a summary are joined by an empty line, as its whole text will be. */
export function decodeSummaryPart(state: State, params: Fields): Step {
  const first = !state.ledger.messages.has(itemId(params))
  return first || isLate(state, params) ? nothing : decodeSummary(state, { ...params, delta: '\n\n' })
}

/** Output while a command runs. Its beginning may be missing; the result has it all. */
export function decodeOutput(state: State, params: Fields): Step {
  const output = text(params, 'delta') ?? ''
  return sayAll(progressTool(state.ledger, itemId(params), { output }))
}

export function decodeToolMessage(state: State, params: Fields): Step {
  const message = text(params, 'message') ?? ''
  return sayAll(progressTool(state.ledger, itemId(params), { message }))
}
