import type { RequestOpened, RequestWithdrawn } from '../../../model/events/request.ts'
import type { Location, RequestOption } from '../../../model/index.ts'
import type { Decoded } from '../../agent.ts'
import { emitAll, line, nothing, unmapped } from '../../kit/decoded.ts'
import { formQuestions } from '../../kit/elicitation-form.ts'
import {
  asFields,
  compact,
  type Fields,
  fields,
  isFields,
  list,
  sameValue,
  text,
  texts,
} from '../../kit/fields.ts'
import type { LedgerTool } from '../../kit/ledger.ts'
import { askByNativeId, nextRequestId, openRequest, withdrawRequest } from '../../kit/requests.ts'
import { ruleTable } from '../../kit/rules.ts'
import { openToolId } from '../../kit/tools.ts'
import { userQuestions } from './questions.ts'
import type { AppServerState, CodexAsk } from './state.ts'
import { parentOf, wakeChild } from './threads.ts'

type OpenedRequest = Omit<RequestOpened, 'type' | 'inputDigest' | 'requestId' | 'parent'>

interface RequestDraft {
  form: CodexAsk['form']
  toolId?: string | undefined
  opened: OpenedRequest
}

type RequestRule = (state: AppServerState, params: Fields) => RequestDraft

const ruleOf = ruleTable<RequestRule>({
  'item/commandExecution/requestApproval'(state, params) {
    const call = openCall(state, params)
    const given = compact({ command: text(params, 'command'), cwd: text(params, 'cwd') })
    const input = { ...asFields(call?.input), ...given }
    const asked = decision(state, params, 'commandExecution', input, amendmentOption(params))
    const network = fields(params, 'networkApprovalContext')
    const host = text(network, 'host')
    return host === undefined ? asked : withHost(asked, host, text(network, 'protocol'))
  },

  // Identifies the change by its call and contains nothing of it.
  'item/fileChange/requestApproval'(state, params) {
    const call = openCall(state, params)
    const asked = decision(state, params, 'fileChange', call?.input)
    const grantRoot = text(params, 'grantRoot')
    return grantRoot === undefined ? asked : withRoot(asked, call?.locations ?? [], grantRoot)
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
    // A policy never approves a page visit.
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

/** The call that a request names. */
function openCall({ ledger }: AppServerState, params: Fields): LedgerTool | undefined {
  const toolId = openToolId(ledger, text(params, 'itemId') ?? '')
  return toolId === undefined ? undefined : ledger.tools.get(toolId)
}

/** Codex lists fewer decisions than it accepts, so the four common ones are always offered. */
function decision(
  state: AppServerState,
  params: Fields,
  fallback: string,
  input: unknown,
  always: readonly RequestOption[] = [],
): RequestDraft {
  const call = openCall(state, params)
  const toolId = call?.toolId
  return {
    form: 'decision',
    toolId,
    opened: {
      kind: 'permission',
      blocking: true,
      tool: call?.name ?? fallback,
      ...compact({ toolId, title: text(params, 'reason') }),
      ...(input !== undefined && { input }),
      options: [ACCEPT, SESSION, ...always, DECLINE, CANCEL],
    },
  }
}

/** A folder for permanent write access is requested together with the change. */
function withRoot(asked: RequestDraft, locations: readonly Location[], grantRoot: string): RequestDraft {
  const wider = about(asked, `write access to ${grantRoot}`, { grantRoot })
  const opened = { ...wider.opened, locations: [...locations, { path: grantRoot }] }
  return { ...wider, opened: { ...opened, permission: 'write_root' } }
}

/** Access to a host is requested for a command that runs. */
function withHost(asked: RequestDraft, host: string, protocol?: string): RequestDraft {
  const address = protocol === undefined ? host : `${protocol}://${host}`
  const wider = about(asked, `network access to ${address}`, compact({ host, protocol }))
  return { ...wider, opened: { ...wider.opened, permission: 'network' } }
}

/** The title names what is requested beyond the call, because every client shows it. */
function about(asked: RequestDraft, what: string, data: Fields): RequestDraft {
  const { opened } = asked
  const title = opened.title === undefined ? what : `${what}: ${opened.title}`
  return { ...asked, opened: { ...opened, title, data } }
}

/** A rule that Codex would add to its configuration on approval. */
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
  const label = `Always allow commands that start with: ${amendment.join(' ')}`
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

/**
 * A request for an MCP call contains at most its arguments: those of another call must not be shown for it. Of equal
 * calls the oldest comes first.
 */
function openMcpCall(state: AppServerState, params: Fields, server: string): LedgerTool | undefined {
  const parent = parentOf(state, params)
  const open = [...state.ledger.tools.values()].filter(
    ({ kind, name, toolId, parent: of }) =>
      kind === 'mcp' && of === parent && name.startsWith(`${server}.`) && !state.span.askedCalls.has(toolId),
  )
  const wanted = fields(params, '_meta').tool_params
  return open.find(({ input }) => wanted === undefined || sameValue(input, wanted))
}

/** Decodes a request of the server: opens it for a person, or rejects it immediately when no rule knows it. */
export function decodeRequest(state: AppServerState, method: string, native: Fields, raw: string): Decoded {
  const params = fields(native, 'params')
  const asked = ruleOf(method)?.(state, params)
  if (!asked) {
    // Without a response the turn would wait forever.
    const error = { code: -32601, message: `${method} is not supported` }
    return { ...unmapped(method, raw), writes: [line({ id: native.id, error })] }
  }
  const parent = parentOf(state, params)
  // The server counts from 0 in every process.
  const requestId = nextRequestId(state.ledger, state.start, native.id)
  if (asked.toolId !== undefined) state.span.askedCalls.add(asked.toolId)
  const opened = openRequest(
    state.ledger,
    { requestId, ...asked.opened, ...compact({ parent }) },
    { nativeId: native.id, form: asked.form, toolId: asked.toolId, params },
  )
  if (parent === undefined) return emitAll(opened)
  return emitAll([...wakeChild(state, parent, text(params, 'turnId')), ...opened])
}

/** Follows our answer, the answer of another client, and the withdrawal of a request by the server. */
export function decodeResolved(state: AppServerState, params: Fields): Decoded {
  const [requestId, ask] = askByNativeId(state.ledger, params.requestId) ?? []
  if (requestId === undefined || !ask) return nothing
  return emitAll(withdrawRequest(state.ledger, requestId, reasonOf(state, ask)))
}

/** The server withdraws requests when their turn is interrupted, and answers those with a time limit itself. */
function reasonOf({ turn }: AppServerState, { params }: CodexAsk): RequestWithdrawn['reason'] {
  if (turn?.interrupting) return 'interrupted'
  return typeof params.autoResolutionMs === 'number' ? 'agent' : 'answered_elsewhere'
}
