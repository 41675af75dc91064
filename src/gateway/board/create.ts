import { isDeepStrictEqual } from 'node:util'
import { MainstemError, type SessionRecord } from '../../model/index.ts'
import type { NewSession } from '../../model/session/new-session.ts'
import type { CommandContext } from '../../sessions/command-context.ts'
import { underCeiling } from '../access/ceiling.ts'
import { directoryBelow } from '../access/roots.ts'
import { ownedSession } from '../access/session-access.ts'
import { workingDirectory as directoryOnNode } from '../access/working-directory.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Call, type Endpoint, endpoint } from '../http/endpoint.ts'
import { keyFrom } from '../http/idempotency.ts'
import { idempotent } from '../http/idempotent.ts'
import { beginSession } from '../v1/begin-session.ts'
import { openReady } from '../v1/commands.ts'
import { BoardStanding } from './answers.ts'
import { type BoardConfig, BoardSessionRequest, policyWith, type UnifiedRequest } from './request.ts'

const ROUTE = 'POST /api/sessions'

/**
 * Creates a session with a prompt, from a request of the board or of the unified protocol, or sends another prompt to a
 * session.
 */
export function createEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/api/sessions',
    client: 'board',
    summary:
      'Create a session with a prompt, or continue one. Send `agentId` (board protocol) or `agentType` (unified protocol)',
    idempotent: true,
    body: BoardSessionRequest,
    status: 201,
    answer: BoardStanding,
    errors: [
      'agent_not_found',
      'session_not_found',
      'not_found',
      'conflict',
      'idempotency_conflict',
      'unsupported_option',
      'overloaded',
      'draining',
    ],
    async run(call) {
      const asked = askedOf(call.body)
      const { sessionId } = asked
      const { id, turn } =
        sessionId === undefined
          ? { id: await begin(deps, call, asked), turn: 1 }
          : { id: sessionId, turn: await continued(deps, call, sessionId, asked) }
      call.reply.header('location', `/api/sessions/${id}`)
      // In a header, because the documents have no field for it.
      if (turn !== undefined) call.reply.header('mainstem-turn', turn)
      // Fixed, so that a repeated request gets the same response regardless of the current state.
      return { id, state: 'running' as const }
    },
  })
}

/** Converts both request bodies to the more detailed one. */
function askedOf(body: BoardSessionRequest): UnifiedRequest {
  if ('agentType' in body) return body
  const { agentId, projectId, prompt } = body
  return { agentType: agentId, prompt, config: { ...(projectId !== undefined && { projectId }) } }
}

async function begin(
  deps: GatewayDeps,
  { principal, actor, request, reply, body }: Call<unknown, unknown, BoardSessionRequest>,
  asked: UnifiedRequest,
): Promise<string> {
  const key = request.headers['idempotency-key']
  const once = key === undefined ? undefined : keyFrom(key, `${principal} ${ROUTE}`, body)
  const wanted = () => sessionOf(deps, principal, asked)
  const { id, replayed } = await beginSession(deps, once, wanted, asked.prompt, { actor })
  if (replayed) reply.header('idempotent-replayed', 'true')
  return id
}

async function sessionOf(
  deps: GatewayDeps,
  principal: string,
  { agentType, config = {} }: UnifiedRequest,
): Promise<NewSession> {
  return {
    agent: agentType,
    principal,
    cwd: await directoryOf(deps, config),
    ...(config.projectId !== undefined && { project: config.projectId }),
    policy: underCeiling(policyWith(deps.policy, config), deps.ceiling),
    ...(config.model !== undefined && { options: { model: config.model } }),
  }
}

/** If both are given, the directory must be inside the project. */
async function directoryOf(deps: GatewayDeps, { projectId, workingDirectory }: BoardConfig): Promise<string> {
  const { projects, roots, cwd } = deps
  const project = projectId === undefined ? undefined : projectOf(projects, projectId)
  if (project === undefined) return directoryOnNode(deps, workingDirectory ?? cwd, 'workingDirectory')
  const directory = await directoryBelow(roots, project, 'projectId')
  return workingDirectory === undefined
    ? directory
    : directoryBelow([directory], workingDirectory, 'workingDirectory')
}

/** Returns the directory of a project. If no projects are configured, an id is only a label without a directory. */
function projectOf(projects: GatewayDeps['projects'], id: string): string | undefined {
  const directory = Object.hasOwn(projects, id) ? projects[id] : undefined
  if (directory !== undefined) return directory
  const known = Object.keys(projects)
  if (known.length === 0) return undefined
  const message = `projectId: no project "${id}" in the configuration; known projects: ${known.join(', ')}`
  throw new MainstemError('not_found', message, { field: 'projectId' })
}

/** Sends another prompt, once per key. Returns its turn, unless the key was stored by a version that did not keep it. */
async function continued(
  deps: GatewayDeps,
  call: Call<object, unknown, BoardSessionRequest>,
  session: string,
  asked: UnifiedRequest,
): Promise<number | undefined> {
  const answer = await idempotent<{ turn?: number } | string>(deps, call, {
    session,
    answer: 'turn',
    run: async (context) => ({ turn: await continueSession(deps, call.principal, session, asked, context) }),
  })
  return typeof answer === 'string' ? undefined : answer.turn
}

async function continueSession(
  deps: GatewayDeps,
  principal: string,
  id: string,
  asked: UnifiedRequest,
  context: CommandContext,
): Promise<number> {
  await checkSame(deps, await ownedSession(deps, principal, id), asked)
  const session = await openReady(deps, id)
  const turn = await session.prompt(asked.prompt, [], context)
  deps.cluster.track(session, turn)
  return turn
}

/** A session keeps its initial settings: a different setting is rejected, because ignoring it might grant too much. */
async function checkSame(
  deps: GatewayDeps,
  record: SessionRecord,
  { agentType, config = {} }: UnifiedRequest,
): Promise<void> {
  const policy = underCeiling(policyWith(record.policy, config), deps.ceiling)
  const { project } = record
  // A session without a project is compared by its directory.
  const isPlaced =
    config.workingDirectory !== undefined || (config.projectId !== undefined && project === undefined)
  const pairs: [field: string, asked: unknown, own: unknown][] = [
    ['agentType', agentType, record.agent],
    ['config.model', config.model ?? record.options.model, record.options.model],
    ['config.approvalMode', policy.approval, record.policy.approval],
    ['config.sandboxMode', policy.sandbox, record.policy.sandbox],
    ['config.allowedTools', policy.tools?.preapproved, record.policy.tools?.preapproved],
    ['config.blockedTools', policy.tools?.denied, record.policy.tools?.denied],
    ['config.maxTurns', policy.maxSteps, record.policy.maxSteps],
    ['config.projectId', project && (config.projectId ?? project), project],
    ['config.workingDirectory', isPlaced ? await directoryOf(deps, config) : record.cwd, record.cwd],
  ]
  const [field] = pairs.find(([, asked, own]) => !isDeepStrictEqual(asked, own)) ?? []
  if (field === undefined) return
  throw new MainstemError('unsupported_option', `${field}: the session was created with a different value`, {
    field,
  })
}
