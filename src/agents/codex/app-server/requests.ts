import type { RequestOpened } from '../../../model/events/request.ts'
import type { RequestOption } from '../../../model/index.ts'
import type { Said, Step } from '../../agent.ts'
import { compact, type Fields, fields, isFields, list, text, texts } from '../../fields.ts'
import { openRequest, openToolId, withdrawRequest } from '../../ledger.ts'
import { ruleTable } from '../../rules.ts'
import { line, nothing, say, sayAll, unmapped } from '../../step.ts'
import { formQuestions, userQuestions } from './questions.ts'
import type { Ask, State } from './state.ts'
import { childOf, parentOf } from './threads.ts'

type Opened = Omit<RequestOpened, 'type' | 'inputDigest' | 'requestId' | 'parent'>

interface Asked {
  form: Ask['form']
  toolId?: string | undefined
  opened: Opened
}

type Rule = (state: State, params: Fields) => Asked

const ruleOf = ruleTable<Rule>({
  'item/commandExecution/requestApproval'(state, params) {
    const network = fields(params, 'networkApprovalContext')
    const input = compact({
      command: text(params, 'command'),
      cwd: text(params, 'cwd'),
      host: text(network, 'host'),
      protocol: text(network, 'protocol'),
    })
    return decision(state, params, 'commandExecution', input, amendmentOption(params))
  },

  // Names the change by its call and has nothing of it.
  'item/fileChange/requestApproval'(state, params) {
    const toolId = openToolId(state.ledger, text(params, 'itemId') ?? '')
    const input = toolId === undefined ? undefined : state.inputs.get(toolId)
    const grantRoot = text(params, 'grantRoot')
    const more = grantRoot === undefined ? input : { ...(isFields(input) && input), grantRoot }
    return decision(state, params, 'fileChange', more)
  },

  'item/tool/requestUserInput': (_state, params) => ({
    form: 'questions',
    opened: {
      kind: 'question',
      blocking: params.isBlocking !== false,
      tool: 'requestUserInput',
      options: [DECLINE],
      questions: userQuestions(params),
    },
  }),

  'mcpServer/elicitation/request'(state, params) {
    const server = text(params, 'serverName') ?? '?'
    const meta = fields(params, '_meta')
    const call =
      text(meta, 'codex_approval_kind') === undefined ? undefined : openMcpCall(state, params, server)
    const questions = call === undefined ? formQuestions(params) : []
    const url = text(params, 'url')
    const input = call?.input ?? meta.tool_params ?? (url === undefined ? undefined : { url })
    // A page to visit is never consented to by a policy.
    const kind = url === undefined ? 'permission' : 'login'
    return {
      form: 'elicitation',
      toolId: call?.toolId,
      opened: {
        kind: questions.length > 0 ? 'question' : kind,
        blocking: true,
        tool: call?.name ?? server,
        ...compact({ title: text(params, 'message'), toolId: call?.toolId }),
        ...(input !== undefined && { input }),
        options: [ACCEPT, ...persistOptions(meta), DECLINE, CANCEL],
        ...(questions.length > 0 && { questions }),
      },
    }
  },
})

const ACCEPT: RequestOption = {
  id: 'accept',
  label: 'Allow once',
  effect: 'allow',
  scope: 'once',
  default: true,
}
const SESSION: RequestOption = {
  id: 'acceptForSession',
  label: 'Allow for this session',
  effect: 'allow',
  scope: 'session',
}
const DECLINE: RequestOption = { id: 'decline', label: 'Deny', effect: 'deny', scope: 'once' }
const CANCEL: RequestOption = { id: 'cancel', label: 'Deny and stop the turn', effect: 'deny', scope: 'once' }

/** What Codex lists as available is less than what it takes, so the four common answers are always offered. */
function decision(
  state: State,
  params: Fields,
  fallback: string,
  input: unknown,
  always: readonly RequestOption[] = [],
): Asked {
  const toolId = openToolId(state.ledger, text(params, 'itemId') ?? '')
  const tool = toolId === undefined ? undefined : state.ledger.tools.get(toolId)?.name
  return {
    form: 'decision',
    toolId,
    opened: {
      kind: 'permission',
      blocking: true,
      tool: tool ?? fallback,
      ...compact({ toolId, title: text(params, 'reason') }),
      ...(input !== undefined && { input }),
      options: [ACCEPT, SESSION, ...always, DECLINE, CANCEL],
    },
  }
}

/** A rule that Codex would write into its own configuration, if it was asked to. */
export function amendmentOf(params: Fields): readonly unknown[] | undefined {
  const offered = list(params, 'availableDecisions').find(
    (one) => isFields(one) && isFields(one.acceptWithExecpolicyAmendment),
  )
  if (!isFields(offered)) return undefined
  const amendment = list(fields(offered, 'acceptWithExecpolicyAmendment'), 'execpolicy_amendment')
  return amendment.length > 0 ? amendment : undefined
}

function amendmentOption(params: Fields): RequestOption[] {
  const amendment = amendmentOf(params)
  if (!amendment) return []
  const label = `Always allow what begins with: ${amendment.join(' ')}`
  return [{ id: 'acceptWithExecpolicyAmendment', label, effect: 'allow', scope: 'always' }]
}

function persistOptions(meta: Fields): RequestOption[] {
  const scopes = texts(meta, 'persist') ?? []
  return [
    ...(scopes.includes('session') ? [SESSION] : []),
    ...(scopes.includes('always')
      ? [{ id: 'acceptAlways', label: 'Always allow', effect: 'allow', scope: 'always' } as const]
      : []),
  ]
}

/** The question about an MCP call does not name it: it is the newest open one of that server. */
function openMcpCall(state: State, params: Fields, server: string) {
  const parent = parentOf(state, params)
  const open = [...state.ledger.tools].findLast(
    ([, tool]) => tool.kind === 'mcp' && tool.parent === parent && tool.name.startsWith(`${server}.`),
  )
  return open && { toolId: open[0], name: open[1].name, input: state.inputs.get(open[0]) }
}

/** A question of the server: opened for a person, or refused at once when no rule knows it. */
export function decodeRequest(state: State, method: string, native: Fields, raw: string): Step {
  const params = fields(native, 'params')
  const asked = ruleOf(method)?.(state, params)
  if (!asked) {
    // Left without an answer, the turn would wait for ever.
    const error = { code: -32601, message: `${method} is not supported` }
    return { ...unmapped(method, raw), writes: [line({ id: native.id, error })] }
  }
  const parent = parentOf(state, params)
  const requestId = newRequestId(state, native.id)
  state.asks.set(requestId, { nativeId: native.id, form: asked.form, toolId: asked.toolId, params })
  const opened: Said = openRequest(state.ledger, { requestId, ...asked.opened, ...compact({ parent }) })
  return parent === undefined ? say(opened) : say(...childOf(state, parent).said, opened)
}

/** The server counts from 0 in every process; an id that it uses again is another question. */
function newRequestId(state: State, nativeId: unknown): string {
  const id = `e${state.start.epoch}.${String(nativeId)}`
  const uses = (state.askUses.get(id) ?? 0) + 1
  state.askUses.set(id, uses)
  return uses === 1 ? id : `${id}~${uses}`
}

/** The open question under the server's own id. */
export function askByNativeId(state: State, nativeId: unknown): [string, Ask] | undefined {
  return [...state.asks].findLast(([, ask]) => ask.nativeId === nativeId)
}

/** Comes after our answer, and also when the server no longer wants one. */
export function decodeResolved(state: State, params: Fields): Step {
  const found = askByNativeId(state, params.requestId)
  if (!found) return nothing
  state.asks.delete(found[0])
  return sayAll(withdrawRequest(state.ledger, found[0], 'agent'))
}
