import { z } from 'zod'
import { Applied, Image, ModelName, Policy, SessionRecord, toMainstemError } from '../../model/index.ts'
import type { Claim } from '../../sessions/claim.ts'
import type { Session } from '../../sessions/session.ts'
import type { Change } from '../../sessions/setup.ts'
import { underCeiling } from '../access/ceiling.ts'
import { allowsEverything, tooMuch } from '../access/option-limits.ts'
import { owned, SessionPath, shown } from '../access/session-access.ts'
import type { GatewayParts } from '../deps.ts'
import { named } from '../http/components.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { checkReady } from '../http/health.ts'
import { InFlight } from '../http/idempotency.ts'
import { once } from '../http/idempotent.ts'

const prompt = z.string().min(1)
const NewTurn = named('NewTurn', z.strictObject({ prompt, images: z.array(Image).max(20).optional() }))
const Turn = named('Turn', z.strictObject({ turn: z.int().positive() }))
const Steering = named('Steering', z.strictObject({ prompt }))
const ModelChange = named(
  'ModelChange',
  z.strictObject({ model: ModelName.nullable().describe('`null` for the default of the agent') }),
)
const ChangedSession = named('ChangedSession', SessionRecord.extend({ applied: Applied }))
const ModeChange = named(
  'ModeChange',
  z
    .strictObject({
      policy: Policy.optional(),
      mode: z.string().min(1).max(200).optional().describe("the agent's own name of a mode"),
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

/** What may be asked of a session. Each is answered once it is in the log. */
export function commandEndpoints(parts: GatewayParts): Endpoint[] {
  const inFlight = new InFlight()
  return [
    turnEndpoint(parts, inFlight),
    commandEndpoint(parts, inFlight, {
      name: 'steer',
      summary: 'Say something to the turn that is running',
      body: Steering,
      answer: SessionRecord,
      async tell(session, { prompt }, claim) {
        await session.steer(prompt, claim?.({}))
        return {}
      },
    }),
    commandEndpoint(parts, inFlight, {
      name: 'model',
      summary: 'Change the model',
      body: ModelChange,
      answer: ChangedSession,
      tell: (session, { model }, claim) => changeOf(session, { type: 'set_model', model }, claim),
    }),
    commandEndpoint(parts, inFlight, {
      name: 'mode',
      summary: 'Change the policy, or the mode of the agent',
      body: ModeChange,
      answer: ChangedSession,
      tell: (session, change, claim) => changeOf(session, modeUnder(parts.ceiling, change), claim),
    }),
    stopEndpoint(parts, inFlight, {
      name: 'interrupt',
      summary: 'Stop the turn that is running, and wait for its end',
      async stop(id, claim) {
        await parts.sessions.get(id)?.interrupt(undefined, claim)
      },
    }),
    stopEndpoint(parts, inFlight, {
      name: 'end',
      summary: 'End the session; its log stays',
      async stop(id, claim) {
        await parts.sessions.open(id)
        await parts.sessions.end(id, claim)
      },
    }),
  ]
}

interface Telling<B extends z.ZodType> {
  name: string
  summary: string
  body: B
  answer: z.ZodType
  /** Resolves with what is answered besides the record; a claim is made with the same. */
  tell(session: Session, body: z.infer<B>, claim: ClaimWith | undefined): Promise<object>
}

type ClaimWith = (more: object) => Claim

async function changeOf(session: Session, change: Change, claim: ClaimWith | undefined): Promise<object> {
  return { applied: await session.change(change, (applied) => claim?.({ applied })) }
}

function commandEndpoint<B extends z.ZodType>(
  parts: GatewayParts,
  inFlight: InFlight,
  { name, summary, body, answer, tell }: Telling<B>,
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
      await owned(parts, principal, id)
      const run = async (claim?: Claim) => {
        const claimWith =
          claim &&
          ((more: object) => ({
            ...claim,
            answer: (record: SessionRecord) => ({ ...shown(record), ...more }),
          }))
        const more = await tell(await ready(parts, principal, id), call.body, claimWith)
        return { ...shown(await owned(parts, principal, id)), ...more }
      }
      return once(parts, inFlight, call, { session: id, answer: shown, run })
    },
  })
}

/** What a mode of the agent's own allows is not known here. */
function modeUnder(ceiling: Policy, { policy, mode }: z.infer<typeof ModeChange>) {
  if (mode !== undefined && !allowsEverything(ceiling)) tooMuch('mode')
  return {
    type: 'set_policy' as const,
    ...(policy && { policy: underCeiling(policy, ceiling) }),
    ...(mode !== undefined && { mode }),
  }
}

function turnEndpoint(parts: GatewayParts, inFlight: InFlight): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/sessions/:id/turns',
    summary: 'Send a prompt; while a turn is running it waits in the queue',
    params: SessionPath,
    idempotent: true,
    body: NewTurn,
    status: 202,
    answer: Turn,
    errors: COMMAND_ERRORS,
    async run(call) {
      const { body, principal } = call
      const { id } = call.params
      await owned(parts, principal, id)
      const run = async (claim?: Claim) => {
        const session = await ready(parts, principal, id)
        const turn = await session.prompt(body.prompt, body.images, claim)
        trackTurn(parts, session, turn)
        return { turn }
      }
      return once(parts, inFlight, call, { session: id, answer: ({ turns }) => ({ turn: turns }), run })
    },
  })
}

/** Stopping is allowed to a server that stops, and a session that has ended is stopped already. */
function stopEndpoint(parts: GatewayParts, inFlight: InFlight, { name, summary, stop }: Stopping): Endpoint {
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
      const { status } = await owned(parts, principal, id)
      const run = async (claim?: Claim) => {
        if (status !== 'ended') await stop(id, claim)
        return shown(await owned(parts, principal, id))
      }
      return once(parts, inFlight, call, { session: id, answer: shown, run })
    },
  })
}

/** The session, ready to work, if it is this principal's. */
export async function ready(parts: GatewayParts, principal: string, id: string): Promise<Session> {
  checkReady(parts)
  await owned(parts, principal, id)
  return parts.sessions.open(id)
}

/** A server that stops waits for the turn. What is in a queue then is kept for the next start. */
export function trackTurn({ runs }: GatewayParts, session: Session, turn: number): void {
  const kept = (thrown: unknown) => {
    if (toMainstemError(thrown).code !== 'draining') throw thrown
  }
  runs.track(session.settled(turn).catch(kept))
}
