import * as z from 'zod'
import { withoutSecrets } from '../../mask/secrets.ts'
import { Applied, type Image, MainstemError, type Policy, SessionRecord } from '../../model/index.ts'
import {
  HandOverCommand,
  PromptCommand,
  RenameCommand,
  SetModelCommand,
  SetPolicyCommand,
} from '../../model/request/command.ts'
import { NewSession } from '../../model/session/new-session.ts'
import type { AnswerForm } from '../../sessions/claim.ts'
import type { CommandContext } from '../../sessions/command-context.ts'
import { parsePolicyChange } from '../../sessions/commands.ts'
import type { Change } from '../../sessions/process/setup.ts'
import type { SessionHandle } from '../../sessions/session-handle.ts'
import { underCeiling } from '../access/ceiling.ts'
import { allowsEverything, keysUnder, tooMuch, withoutKeys } from '../access/option-limits.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { checkReady } from '../http/health.ts'
import { idempotent } from '../http/idempotent.ts'
import { named } from '../http/openapi/components.ts'
import { integer } from '../http/query.ts'

const { text: prompt, images } = PromptCommand.shape
const { keys } = NewSession.shape
const NewTurn = named('NewTurn', z.strictObject({ prompt, images, keys }))
const Verb = named('Verb', z.strictObject({ keys }))
const Goal = named('Goal', z.strictObject({ goal: z.string().regex(/\S/, 'must not be empty'), keys }))
const Rewind = named('Rewind', z.strictObject({ turn: z.int().positive().max(999_999_999), keys }))
const Turn = named('Turn', z.strictObject({ turn: z.int().positive() }))
const Steering = named('Steering', z.strictObject({ prompt }))
const HandOver = named('HandOver', HandOverCommand.omit({ type: true }))
const NameChange = named('NameChange', RenameCommand.omit({ type: true }))
const ModelChange = named('ModelChange', SetModelCommand.omit({ type: true }))
const ChangedSession = named('ChangedSession', SessionRecord.extend({ applied: Applied }))
const ModeChange = named('ModeChange', SetPolicyCommand.omit({ type: true }))

const COMMAND_ERRORS = [
  'session_not_found',
  'agent_not_found',
  'conflict',
  'idempotency_conflict',
  'unsupported_option',
  'overloaded',
  'draining',
] as const

interface Stopping {
  name: string
  summary: string
  stop(id: string, context: CommandContext): Promise<void>
}

/** Commands to a session. Each responds once its effect is in the log. */
export function commandEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    turnEndpoint(deps, {
      name: 'turns',
      summary: 'Send a prompt; it is queued while a turn is running',
      body: NewTurn,
      takesImages: true,
      promptOf: ({ prompt, images = [] }) => [prompt, images],
    }),
    ...verbEndpoints(deps),
    queuedTurnEndpoint(deps),
    commandEndpoint(deps, {
      name: 'steer',
      summary: 'Steer the running turn',
      body: Steering,
      answer: SessionRecord,
      repeated: 'session',
      async apply(session, { prompt }, context) {
        await session.steer(prompt, context)
        return {}
      },
    }),
    commandEndpoint(deps, {
      name: 'model',
      summary: 'Change the model',
      body: ModelChange,
      answer: ChangedSession,
      repeated: 'changed',
      apply: (session, { model }, context) => changeOf(session, { type: 'set_model', model }, context),
    }),
    commandEndpoint(deps, {
      name: 'mode',
      summary: "Change the policy or the agent's mode",
      body: ModeChange,
      answer: ChangedSession,
      repeated: 'changed',
      apply: (session, change, context) => changeOf(session, modeUnder(deps.ceiling, change), context),
    }),
    renameEndpoint(deps),
    handOverEndpoint(deps),
    stopEndpoint(deps, {
      name: 'interrupt',
      summary: 'Cancel the running turn and wait for its end',
      async stop(id, context) {
        await (await deps.cluster.running(id))?.interrupt(undefined, context)
      },
    }),
    stopEndpoint(deps, {
      name: 'end',
      summary: 'End the session; its log is retained',
      stop: (id, context) => deps.cluster.end(id, context),
    }),
  ]
}

function renameEndpoint(deps: GatewayDeps): Endpoint {
  return commandEndpoint(deps, {
    name: 'name',
    summary: 'Give the session a name, or remove it',
    body: NameChange,
    answer: SessionRecord,
    repeated: 'session',
    async apply(session, { name }, context) {
      await session.rename(name, context)
      return {}
    },
  })
}

function handOverEndpoint(deps: GatewayDeps): Endpoint {
  return commandEndpoint(deps, {
    name: 'agent',
    summary: 'Continue the session with another agent, which is told a recap of it',
    body: HandOver,
    answer: SessionRecord,
    repeated: 'session',
    async apply({ id }, body, context) {
      await deps.cluster.continueWith(id, { type: 'hand_over', ...body }, context)
      return {}
    },
  })
}

/** What all commands to a session have in common. */
function commandRoute(name: string) {
  const url = `/v1/sessions/:id/${name}`
  return { method: 'POST', url, params: SessionPath, idempotent: true, errors: COMMAND_ERRORS } as const
}

interface CommandDefinition<B extends z.ZodType> {
  name: string
  summary: string
  body: B
  answer: z.ZodType
  repeated: AnswerForm
  /** Resolves to the response fields besides the record. */
  apply(session: SessionHandle, body: z.infer<B>, context: CommandContext): Promise<object>
}

async function changeOf(session: SessionHandle, change: Change, context: CommandContext): Promise<object> {
  return { applied: await session.change(change, context) }
}

function commandEndpoint<B extends z.ZodType>(
  deps: GatewayDeps,
  { name, summary, body, answer, repeated, apply }: CommandDefinition<B>,
): Endpoint {
  return endpoint({
    ...commandRoute(name),
    ...{ summary, body, answer },
    async run(call) {
      const { principal } = call
      const { id } = call.params
      await ownedSession(deps, principal, id)
      const run = async (context: CommandContext) => {
        const more = await apply(await openReady(deps, id), call.body, context)
        return { ...withoutSecrets(await ownedSession(deps, principal, id)), ...more }
      }
      return idempotent(deps, call, { session: id, answer: repeated, run })
    },
  })
}

/** The permissions of an agent's native mode are unknown here. */
function modeUnder(ceiling: Policy, body: z.infer<typeof ModeChange>): Change {
  const { mode, policy } = parsePolicyChange({ type: 'set_policy', ...body })
  if (mode !== undefined && !allowsEverything(ceiling)) tooMuch('mode')
  return {
    type: 'set_policy',
    ...(policy && { policy: underCeiling(policy, ceiling) }),
    ...(mode !== undefined && { mode }),
  }
}

/** Commands of the agent's own terminal, as turns. */
function verbEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    turnEndpoint(deps, {
      name: 'compact',
      summary: 'Replace the conversation by a summary, in a turn',
      body: Verb,
      promptOf: () => ['/compact'],
    }),
    turnEndpoint(deps, {
      name: 'review',
      summary: 'Review the uncommitted changes, in a turn',
      body: Verb,
      promptOf: () => ['/review'],
    }),
    turnEndpoint(deps, {
      name: 'goal',
      summary: 'Have the agent work on a goal until it is reached, in as many turns as it needs',
      body: Goal,
      promptOf: ({ goal }) => [`/goal ${goal}`],
    }),
    turnEndpoint(deps, {
      name: 'rewind',
      summary: 'Restore the files as they were before a turn, in a turn',
      body: Rewind,
      promptOf: ({ turn }) => [`/rewind ${turn}`],
    }),
  ]
}

interface TurnDefinition<B extends z.ZodType<Pick<NewSession, 'keys'>>> {
  name: string
  summary: string
  body: B
  takesImages?: boolean
  promptOf(body: z.infer<B>): [prompt: string, images?: readonly Image[]]
}

function turnEndpoint<B extends z.ZodType<Pick<NewSession, 'keys'>>>(
  deps: GatewayDeps,
  { name, summary, body, promptOf, takesImages = false }: TurnDefinition<B>,
): Endpoint {
  return endpoint({
    ...commandRoute(name),
    ...{ summary, body, takesImages },
    status: 202,
    answer: Turn,
    async run(call) {
      const { principal } = call
      const { id } = call.params
      const [prompt, images = []] = promptOf(call.body)
      const keys = call.body.keys && keysUnder(call.body.keys, deps)
      await ownedSession(deps, principal, id)
      const run = async (context: CommandContext) => {
        const session = await openReady(deps, id)
        const turn = await session.prompt(prompt, images, { ...context, ...(keys && { keys }) })
        deps.cluster.track(session, turn)
        return { turn }
      }
      return idempotent(deps, { ...call, body: withoutKeys(call.body) }, { session: id, answer: 'turn', run })
    },
  })
}

const TurnPath = SessionPath.extend({ turn: integer(1, 999_999_999) })

/** Removes a prompt from the queue. If its turn begins at this moment, it is interrupted. */
function queuedTurnEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'DELETE',
    url: '/v1/sessions/:id/turns/:turn',
    summary: 'Remove a queued prompt',
    params: TurnPath,
    answer: SessionRecord,
    errors: ['session_not_found', 'conflict', 'draining'],
    async run({ params: { id, turn }, principal, actor }) {
      const { queue } = await ownedSession(deps, principal, id)
      if (!queue.some((prompt) => prompt.turn === turn))
        throw new MainstemError('conflict', `turn ${turn} is not in the queue`, {
          advice: 'It has begun, ended or never existed. Interrupt the session to stop a running turn.',
        })
      await (await openReady(deps, id)).interrupt(turn, { actor })
      return withoutSecrets(await ownedSession(deps, principal, id))
    },
  })
}

/** A stopping server accepts these commands, and a session that has ended counts as stopped. */
function stopEndpoint(deps: GatewayDeps, { name, summary, stop }: Stopping): Endpoint {
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
      const run = async (context: CommandContext) => {
        if (status !== 'ended') await stop(id, context)
        return withoutSecrets(await ownedSession(deps, principal, id))
      }
      return idempotent(deps, call, { session: id, answer: 'session', run })
    },
  })
}

/** Opens a session owned by this principal. */
export async function ready(deps: GatewayDeps, principal: string, id: string): Promise<SessionHandle> {
  checkReady(deps)
  await ownedSession(deps, principal, id)
  return openReady(deps, id)
}

/** Opens a session after its owner was checked, without reading its record again. */
export async function openReady(deps: GatewayDeps, id: string): Promise<SessionHandle> {
  checkReady(deps)
  return deps.cluster.open(id)
}
