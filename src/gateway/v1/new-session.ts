import * as z from 'zod'
import { ERRORS, MainstemError, Policy, SessionRecord, toMainstemError } from '../../model/index.ts'
import { PromptCommand } from '../../model/request/command.ts'
import { forkRequest } from '../../model/session/fork-request.ts'
import { NewSession } from '../../model/session/new-session.ts'
import { underCeiling } from '../access/ceiling.ts'
import { keysUnder, optionsUnder, withoutKeys } from '../access/option-limits.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import { workingDirectory } from '../access/working-directory.ts'
import { addWorktree, type SessionWorktree } from '../access/worktree.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { keyFrom } from '../http/idempotency.ts'
import { named } from '../http/openapi/components.ts'
import { beginSession } from './begin-session.ts'

const BRANCH = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)?$/

const NewSessionBody = named(
  'NewSession',
  NewSession.omit({ prefers: true, principal: true, project: true, single: true }).extend({
    cwd: NewSession.shape.cwd.optional(),
    policy: Policy.partial().optional(),
    prompt: PromptCommand.shape.text.optional(),
    worktree: z
      .string()
      .max(100)
      .regex(BRANCH, 'not a branch name: letters, digits, ".", "_" and "-", with one "/" at most')
      .optional()
      .describe(
        'A new branch. The session works in a new git worktree of it, beside the repository of `cwd`, from its last commit.',
      ),
  }),
)
type NewSessionBody = z.infer<typeof NewSessionBody>

/** Only immutable fields, so that a repeated request gets an identical response. */
const CreatedSession = named(
  'CreatedSession',
  SessionRecord.pick({ id: true, agent: true, launch: true, cwd: true, createdAt: true }).extend({
    turn: z.int().positive().optional(),
  }),
)

/** Creates a session, once per key, within the limits of the server. */
export function newSessionEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/sessions',
    summary: 'Create a session, optionally with a first prompt',
    idempotent: true,
    body: NewSessionBody,
    takesImages: true,
    status: 201,
    answer: CreatedSession,
    errors: [
      'agent_not_found',
      'session_not_found',
      'conflict',
      'idempotency_conflict',
      'unsupported_option',
      'overloaded',
    ],
    async run({ body, principal, actor, request, reply }) {
      const scope = `${principal} POST /v1/sessions`
      const key = request.headers['idempotency-key']
      const once = key === undefined ? undefined : keyFrom(key, scope, withoutKeys(body))
      const { id, replayed } = await inWorktree(deps, body, (directory) =>
        beginSession(
          deps,
          once,
          async () => sessionOf(deps, principal, body, await directory()),
          body.prompt,
          { actor },
        ),
      )
      const { agent, launch, cwd, createdAt } = await ownedSession(deps, principal, id)
      reply.header('location', `/v1/sessions/${id}`)
      if (replayed) reply.header('idempotent-replayed', 'true')
      return { id, agent, launch, cwd, createdAt, ...(body.prompt !== undefined && { turn: 1 }) }
    },
  })
}

const Fork = named(
  'Fork',
  z.strictObject({
    prompt: PromptCommand.shape.text.optional(),
    name: NewSession.shape.name,
    keys: NewSession.shape.keys,
  }),
)

/** Creates a session that continues a copy of another one's conversation. */
export function forkEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/sessions/:id/fork',
    summary: 'Continue a copy of the conversation in a new session',
    params: SessionPath,
    idempotent: true,
    body: Fork,
    status: 201,
    answer: CreatedSession,
    errors: ['session_not_found', 'conflict', 'idempotency_conflict', 'unsupported_option', 'overloaded'],
    async run({ body, params, principal, actor, request, reply }) {
      const key = request.headers['idempotency-key']
      const scope = `${principal} POST /v1/sessions/${params.id}/fork`
      const once = key === undefined ? undefined : keyFrom(key, scope, withoutKeys(body))
      const keys = body.keys && keysUnder(body.keys, deps)
      const wanted = async () => {
        const asked = forkRequest(await ownedSession(deps, principal, params.id), body.name)
        return { ...deps.sessions.limited(asked), ...(keys && { keys }) }
      }
      const { id, replayed } = await beginSession(deps, once, wanted, body.prompt, {
        actor,
        forkOf: params.id,
      })
      const { agent, launch, cwd, createdAt } = await ownedSession(deps, principal, id)
      reply.header('location', `/v1/sessions/${id}`)
      if (replayed) reply.header('idempotent-replayed', 'true')
      return { id, agent, launch, cwd, createdAt, ...(body.prompt !== undefined && { turn: 1 }) }
    },
  })
}

/**
 * Calls `begin` with the directory of the new session: that of the body, or a new worktree, which is removed if the
 * session is refused. A repeated request asks for no directory, and makes no second worktree.
 */
async function inWorktree<T>(
  deps: GatewayDeps,
  { cwd = deps.cwd, worktree }: NewSessionBody,
  begin: (directory: () => Promise<string>) => Promise<T>,
): Promise<T> {
  let made: SessionWorktree | undefined
  try {
    return await begin(async () => {
      if (worktree === undefined) return workingDirectory(deps, cwd)
      made = await addWorktree(deps.roots, cwd, worktree)
      return made.cwd
    })
  } catch (thrown) {
    // After a fault of the server, the session may exist.
    if (ERRORS[toMainstemError(thrown).code].http < 500) await made?.discard()
    throw thrown
  }
}

async function sessionOf(
  deps: GatewayDeps,
  principal: string,
  body: NewSessionBody,
  cwd: string,
): Promise<NewSession> {
  const policy = Policy.parse({ ...deps.policy, ...body.policy })
  if (body.resume !== undefined) await checkResume(deps, principal, body.resume)
  return {
    agent: body.agent,
    principal,
    ...(body.launch && { launch: body.launch }),
    cwd,
    policy: underCeiling(policy, deps.ceiling),
    options: await optionsUnder(body.options ?? {}, deps),
    ...(body.resume !== undefined && { resume: body.resume }),
    ...(body.name !== undefined && { name: body.name }),
    ...(body.attended !== undefined && { attended: body.attended }),
    ...(body.labels && { labels: body.labels }),
    ...(body.keys && { keys: keysUnder(body.keys, deps) }),
  }
}

/** Agents store the conversations of all principals together, so this check separates them. */
export async function checkResume(
  deps: GatewayDeps,
  principal: string,
  resume: string,
  field = 'resume',
): Promise<void> {
  const owners = await deps.sessions.nativeOwners(resume)
  if (owners.every((owner) => owner === principal)) return
  throw new MainstemError('session_not_found', `${field}: no such session`, { field })
}
