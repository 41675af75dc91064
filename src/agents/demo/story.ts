import type { RequestOption, Usage } from '../../model/index.ts'
import { addUsage, isZeroUsage, type Outcome } from '../../model/index.ts'
import type { Decoded, Emitted, TurnVerdict, Write } from '../agent.ts'
import { emit, emitAll, send, line as written } from '../kit/decoded.ts'
import { compact } from '../kit/fields.ts'
import type { Ledger } from '../kit/ledger.ts'
import { addDelta, closeMessage } from '../kit/messages.ts'
import { openRequest } from '../kit/requests.ts'
import { settle } from '../kit/settle.ts'
import { finishSubagent, startSubagent } from '../kit/subagents.ts'
import { finishTool, startTool } from '../kit/tools.ts'
import type { DemoLine, DemoLineOf } from './native.ts'

/** An open request, with the scenes of its answers. */
type DemoAsk = DemoLineOf<'question'> | (DemoLineOf<'ask'> & { tool: string; toolId: string })

export interface DemoState {
  readonly epoch: number
  /** Counts the prompts of this process. */
  run: number
  open: boolean
  ledger: Ledger<DemoAsk>
  readonly calls: Map<string, DemoLineOf<'call'>>
  /** Tools that were allowed for the whole session. */
  readonly allowed: Set<string>
  used: Usage
}

const OPTIONS: RequestOption[] = [
  { id: 'once', label: 'Allow once', effect: 'allow', scope: 'once', default: true },
  { id: 'session', label: 'Allow for this session', effect: 'allow', scope: 'session' },
  { id: 'deny', label: 'Deny', effect: 'deny', scope: 'once' },
]

/** Requests a scene from the demo. */
export function play(state: DemoState, scene: string): Write {
  return written({ run: state.run, scene })
}

/** Ids of the script repeat with each prompt and process; ids in the log must be unique. */
function idOf(state: DemoState, id: string): string {
  return `e${state.epoch}.r${state.run}.${id}`
}

function parentOf(state: DemoState, agent: string | undefined): { parent?: string } {
  return agent === undefined ? {} : { parent: idOf(state, agent) }
}

/** Decodes one line of the open turn. */
export function decodeLine(state: DemoState, line: DemoLine): Decoded {
  const { ledger } = state
  switch (line.type) {
    case 'hello':
      return emit(
        { type: 'session.updated', model: line.model, tools: line.tools },
        { type: 'notice.raised', level: 'info', code: 'agent_warning', message: line.note },
      )
    case 'delta': {
      const { parent } = parentOf(state, line.agent)
      return emit(addDelta(ledger, line.of, idOf(state, line.id), line.text, parent))
    }
    case 'said':
      return emitAll(closeMessage(ledger, idOf(state, line.id)))
    case 'plan':
      return emit({ type: 'plan.updated', items: line.items })
    case 'call':
      return call(state, line)
    case 'result':
      return result(state, line)
    case 'ask':
      return ask(state, line)
    case 'question':
      return question(state, line)
    case 'spawn': {
      const { label, prompt } = line
      const id = idOf(state, line.id)
      return emitAll(startSubagent(ledger, { id, toolId: idOf(state, line.call), label, prompt }))
    }
    case 'return': {
      const { summary, ms: durationMs } = line
      return emitAll(finishSubagent(ledger, idOf(state, line.id), { status: 'success', summary, durationMs }))
    }
    case 'spent':
      return spent(state, line)
    case 'end':
      return emitAll(conclude(state, { evidence: 'success', result: line.result }, 'completed'))
    default:
      return line satisfies never
  }
}

function call(state: DemoState, line: DemoLineOf<'call'>): Decoded {
  state.calls.set(line.id, line)
  const { name, kind, title, input, locations } = line
  const toolId = idOf(state, line.id)
  const about = compact({ title, input, locations })
  return emit(startTool(state.ledger, { toolId, name, kind, ...about, ...parentOf(state, line.agent) }))
}

function result(state: DemoState, line: DemoLineOf<'result'>): Decoded {
  const { status, output, exitCode, ms, change } = line
  const toolId = idOf(state, line.id)
  const refusedBy = state.ledger.tools.get(toolId)?.refusedBy
  return emitAll(
    finishTool(
      state.ledger,
      toolId,
      {
        status,
        ...(output !== undefined && { output }),
        ...(exitCode !== undefined && { exitCode }),
        ...(ms !== undefined && { durationMs: ms }),
        ...(status === 'denied' && { deniedBy: refusedBy ?? 'agent' }),
      },
      change && [change],
    ),
  )
}

/** A tool that was allowed for the session needs no further approval: the scene continues. */
function ask(state: DemoState, line: DemoLineOf<'ask'>): Decoded {
  const about = state.calls.get(line.call)
  const tool = about?.name ?? line.call
  if (state.allowed.has(tool)) return send([play(state, line.allow)])
  const requestId = idOf(state, line.id)
  const toolId = idOf(state, line.call)
  return emitAll(
    openRequest(
      state.ledger,
      {
        requestId,
        kind: 'permission',
        blocking: true,
        toolId,
        tool,
        title: line.title,
        input: about?.input,
        options: OPTIONS,
      },
      { ...line, tool, toolId },
    ),
  )
}

function question(state: DemoState, line: DemoLineOf<'question'>): Decoded {
  const requestId = idOf(state, line.id)
  const options = line.answers.map(({ label, description }) => ({ label, description }))
  const questions = [{ id: line.id, header: line.header, text: line.text, options }]
  return emitAll(
    openRequest(state.ledger, { requestId, kind: 'question', blocking: true, options: [], questions }, line),
  )
}

function spent(state: DemoState, line: DemoLineOf<'spent'>): Decoded {
  state.used = addUsage(state.used, line.usage)
  const whose =
    line.agent === undefined
      ? ({ scope: 'step' } as const)
      : ({ scope: 'subagent', subagentId: idOf(state, line.agent) } as const)
  return emit({ type: 'usage.reported', ...whose, ...line.usage, source: 'agent' })
}

/** Settles open items, then reports the usage and the result of the turn. */
export function conclude(
  state: DemoState,
  ending: Pick<TurnVerdict, 'evidence' | 'result' | 'error'>,
  outcome: Outcome,
  processGone = false,
): Emitted[] {
  const { ledger, used } = state
  state.open = false
  const emitted = settle(ledger, outcome, processGone)
  const usage = isZeroUsage(used) ? undefined : used
  if (usage) emitted.push({ type: 'usage.reported', scope: 'turn', ...usage, source: 'computed' })
  const { denials, personDenials } = ledger
  emitted.push({ type: 'turn.verdict', ...ending, denials, personDenials, ...(usage && { usage }) })
  return emitted
}
