import { z } from 'zod'
import {
  Applied,
  Image,
  ModelName,
  ModeName,
  Policy,
  SessionRecord,
  toMainstemError,
} from '../../model/index.ts'
import type { Claim } from '../../sessions/claim.ts'
import type { Session } from '../../sessions/session.ts'
import type { Change } from '../../sessions/setup.ts'
import { underCeiling } from '../access/ceiling.ts'
import { allowsEverything, tooMuch } from '../access/option-limits.ts'
import { ownedSession, SessionPath, withoutSecrets } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { checkReady } from '../http/health.ts'
import { InFlight } from '../http/idempotency.ts'
import { idempotent } from '../http/idempotent.ts'

const prompt = z.string().min(1)
const NewTurn = named('NewTurn', z.strictObject({ prompt, images: z.array(Image).max(20).optional() }))
const Turn = named('Turn', z.strictObject({ turn: z.int().positive() }))
const Steering = named('Steering', z.strictObject({ prompt }))
const ModelChange = named(
  'ModelChange',
  z.strictObject({ model: ModelName.nullable().describe("`null` selects the agent's default") }),
)
const ChangedSession = named('ChangedSession', SessionRecord.extend({ applied: Applied }))
const ModeChange = named(
  'ModeChange',
  z
    .strictObject({
      policy: Policy.optional(),
      mode: ModeName.optional().describe("the agent's native name of a mode"),
    })
    .refine(({ policy, mode }) => (policy === undefined) !== (mode === undefined), 'either policy or mode'),
)

const COMMAND_ERRORS = [
  'session_not_found',
  'conflict',
  'idempotency_conflict',
  'unsupported_option',
  'overloaded',
  'draining',
] as const

interface Stopping {
  name: string
  summary: string
  stop(id: string, claim: Claim | undefined): Promise<void>
}

/** Commands to a session. Each responds once its effect is in the log. */
export function commandEndpoints(deps: GatewayDeps): Endpoint[] {
  const inFlight = new InFlight()
  return [
    turnEndpoint(deps, inFlight),
    commandEndpoint(deps, inFlight, {
      name: 'steer',
      summary: 'Steer the running turn',
      body: Steering,
      answer: SessionRecord,
      async apply(session, { prompt }, claim) {
        await session.steer(prompt, claim?.({}))
        return {}
      },
    }),
    commandEndpoint(deps, inFlight, {
      name: 'model',
      summary: 'Change the model',
      body: ModelChange,
      answer: ChangedSession,
      apply: (session, { model }, claim) => changeOf(session, { type: 'set_model', model }, claim),
    }),
    commandEndpoint(deps, inFlight, {
      name: 'mode',
      summary: "Change the policy or the agent's mode",
      body: ModeChange,
      answer: ChangedSession,
      apply: (session, change, claim) => changeOf(session, modeUnder(deps.ceiling, change), claim),
    }),
    stopEndpoint(deps, inFlight, {
      name: 'interrupt',
      summary: 'Cancel the running turn and wait for its end',
      async stop(id, claim) {
        await deps.sessions.get(id)?.interrupt(undefined, claim)
      },
    }),
    stopEndpoint(deps, inFlight, {
      name: 'end',
      summary: 'End the session; its log is retained',
      async stop(id, claim) {
        await deps.sessions.open(id)
        await deps.sessions.end(id, claim)
      },
    }),
  ]
}

interface CommandDefinition<B extends z.ZodType> {
  name: string
  summary: string
  body: B
  answer: z.ZodType
  /** Resolves to the response fields besides the record; a claim is stored with the same fields. */
  apply(session: Session, body: z.infer<B>, claim: ClaimWith | undefined): Promise<object>
}

type ClaimWith = (more: object) => Claim

async function changeOf(session: Session, change: Change, claim: ClaimWith | undefined): Promise<object> {
  return { applied: await session.change(change, (applied) => claim?.({ applied })) }
}

function commandEndpoint<B extends z.ZodType>(
  deps: GatewayDeps,
  inFlight: InFlight,
  { name, summary, body, answer, apply }: CommandDefinition<B>,
): Endpoint {
  return endpoint({
    method: 'POST',
    url: `/v1/sessions/:id/${name}`,
    summary,
    params: SessionPath,
    idempotent: true,
    body,
    answer,
    errors: COMMAND_ERRORS,
    async run(call) {
      const { principal } = call
      const { id } = call.params
      await ownedSession(deps, principal, id)
      const run = async (claim?: Claim) => {
        const claimWith =
          claim &&
          ((more: object) => ({
            ...claim,
            answer: (record: SessionRecord) => ({ ...withoutSecrets(record), ...more }),
          }))
        const more = await apply(await ready(deps, principal, id), call.body, claimWith)
        return { ...withoutSecrets(await ownedSession(deps, principal, id)), ...more }
      }
      return idempotent(deps, inFlight, call, { session: id, answer: withoutSecrets, run })
    },
  })
}

/** The permissions of an agent's native mode are unknown here. */
function modeUnder(ceiling: Policy, { policy, mode }: z.infer<typeof ModeChange>) {
  if (mode !== undefined && !allowsEverything(ceiling)) tooMuch('mode')
  return {
    type: 'set_policy' as const,
    ...(policy && { policy: underCeiling(policy, ceiling) }),
    ...(mode !== undefined && { mode }),
  }
}

function turnEndpoint(deps: GatewayDeps, inFlight: InFlight): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/sessions/:id/turns',
    summary: 'Send a prompt; it is queued while a turn is running',
    params: SessionPath,
    idempotent: true,
    body: NewTurn,
    status: 202,
    answer: Turn,
    errors: COMMAND_ERRORS,
    async run(call) {
      const { body, principal } = call
      const { id } = call.params
      await ownedSession(deps, principal, id)
      const run = async (claim?: Claim) => {
        const session = await ready(deps, principal, id)
        const turn = await session.prompt(body.prompt, body.images, claim)
        trackTurn(deps, session, turn)
        return { turn }
      }
      return idempotent(deps, inFlight, call, { session: id, answer: ({ turns }) => ({ turn: turns }), run })
    },
  })
}

/** A stopping server accepts these commands, and a session that has ended counts as stopped. */
function stopEndpoint(deps: GatewayDeps, inFlight: InFlight, { name, summary, stop }: Stopping): Endpoint {
  return endpoint({
    method: 'POST',
    url: `/v1/sessions/:id/${name}`,
    summary,
    params: SessionPath,
    idempotent: true,
    answer: SessionRecord,
    errors: ['session_not_found', 'conflict', 'idempotency_conflict', 'draining'],
    async run(call) {
      const { principal } = call
      const { id } = call.params
      const { status } = await ownedSession(deps, principal, id)
      const run = async (claim?: Claim) => {
        if (status !== 'ended') await stop(id, claim)
        return withoutSecrets(await ownedSession(deps, principal, id))
      }
      return idempotent(deps, inFlight, call, { session: id, answer: withoutSecrets, run })
    },
  })
}

/** Opens a session owned by this principal. */
export async function ready(deps: GatewayDeps, principal: string, id: string): Promise<Session> {
  checkReady(deps)
  await ownedSession(deps, principal, id)
  return deps.sessions.open(id)
}

/** A stopping server waits for the turn. Queued turns are kept for the next start. */
export function trackTurn({ runs }: GatewayDeps, session: Session, turn: number): void {
  const kept = (thrown: unknown) => {
    if (toMainstemError(thrown).code !== 'draining') throw thrown
  }
  runs.track(session.ended(turn).catch(kept))
}
