import { z } from 'zod'
import { Image, ModelName, Policy, SessionRecord, toMainstemError } from '../model/index.ts'
import type { Session } from '../sessions/session.ts'
import { underCeiling } from './ceiling.ts'
import { named } from './components.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { checkReady } from './health.ts'
import { owned, SessionPath, shown } from './owned.ts'
import type { GatewayParts } from './parts.ts'
import { allowsEverything, tooMuch } from './session-options.ts'

const prompt = z.string().min(1)
const NewTurn = named('NewTurn', z.strictObject({ prompt, images: z.array(Image).max(20).optional() }))
const Turn = named('Turn', z.strictObject({ turn: z.int().positive() }))
const Steering = named('Steering', z.strictObject({ prompt }))
const ModelChange = named('ModelChange', z.strictObject({ model: ModelName }))
const ModeChange = named(
  'ModeChange',
  z
    .strictObject({
      policy: Policy.optional(),
      mode: z.string().min(1).max(200).optional().describe("the agent's own name of a mode"),
    })
    .refine(({ policy, mode }) => (policy === undefined) !== (mode === undefined), 'either policy or mode'),
)

/** What may be asked of a session. Each is answered once it is in the log. */
export function commandEndpoints(parts: GatewayParts): Endpoint[] {
  const command = <B extends z.ZodType>(
    name: string,
    summary: string,
    body: B,
    run: (session: Session, body: z.infer<B>) => Promise<void>,
  ): Endpoint =>
    endpoint({
      method: 'POST',
      url: `/v1/sessions/:id/${name}`,
      summary,
      params: SessionPath,
      body,
      answer: SessionRecord,
      errors: ['session_not_found', 'conflict', 'unsupported_option', 'overloaded', 'draining'],
      async run({ params: { id }, body, principal }) {
        await run(await ready(parts, principal, id), body)
        return shown(await owned(parts, principal, id))
      },
    })
  return [
    turnEndpoint(parts),
    command('steer', 'Say something to the turn that is running', Steering, (session, { prompt }) =>
      session.steer(prompt),
    ),
    command('model', 'Change the model', ModelChange, (session, { model }) =>
      session.change({ type: 'set_model', model }),
    ),
    command(
      'mode',
      'Change the policy, or the mode of the agent',
      ModeChange,
      (session, { policy, mode }) => {
        // What a mode of the agent's own allows is not known here.
        if (mode !== undefined && !allowsEverything(parts.ceiling)) tooMuch('mode')
        return session.change({
          type: 'set_policy',
          ...(policy && { policy: underCeiling(policy, parts.ceiling) }),
          ...(mode !== undefined && { mode }),
        })
      },
    ),
    stopEndpoint(parts, 'interrupt', 'Stop the turn that is running, and wait for its end', async (id) => {
      await parts.sessions.get(id)?.interrupt()
    }),
    stopEndpoint(parts, 'end', 'End the session; its log stays', async (id) => {
      await parts.sessions.open(id)
      await parts.sessions.end(id)
    }),
  ]
}

function turnEndpoint(parts: GatewayParts): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/sessions/:id/turns',
    summary: 'Send a prompt; while a turn is running it waits in the queue',
    params: SessionPath,
    body: NewTurn,
    status: 202,
    answer: Turn,
    errors: ['session_not_found', 'conflict', 'unsupported_option', 'overloaded', 'draining'],
    async run({ params, body, principal }) {
      const session = await ready(parts, principal, params.id)
      const turn = await session.prompt(body.prompt, body.images)
      trackTurn(parts, session, turn)
      return { turn }
    },
  })
}

/** Stopping is allowed to a server that stops, and a session that has ended is stopped already. */
function stopEndpoint(
  parts: GatewayParts,
  name: string,
  summary: string,
  stop: (id: string) => Promise<void>,
): Endpoint {
  return endpoint({
    method: 'POST',
    url: `/v1/sessions/:id/${name}`,
    summary,
    params: SessionPath,
    answer: SessionRecord,
    errors: ['session_not_found', 'draining'],
    async run({ params: { id }, principal }) {
      const { status } = await owned(parts, principal, id)
      if (status !== 'ended') await stop(id)
      return shown(await owned(parts, principal, id))
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
