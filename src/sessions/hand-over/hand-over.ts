import type { Agent } from '../../agents/agent.ts'
import type { SessionHandedOver } from '../../model/events/session.ts'
import { MainstemError, type SessionRecord } from '../../model/index.ts'
import type { HandOverCommand } from '../../model/request/command.ts'
import { verbIn } from '../../model/request/verb.ts'
import type { Store } from '../../stores/store.ts'
import type { CommandContext } from '../command-context.ts'
import { fittingLaunch } from '../process/fitting-launch.ts'
import { launchable } from '../process/launchable.ts'
import type { Chosen } from '../process/recipes.ts'
import { checkHook, type PromptCommand } from '../process/setup.ts'
import { endedConflict, singleTask } from '../refusals.ts'
import type { SessionParts } from '../session-parts.ts'
import { RECAPPED, RecapFold } from './recap.ts'

/** Other entries can be between the last one that the recap covers and the hand-over. */
const NEAR = 16

const PAGE = 512
const PAGE_BYTES = 4 * 1024 * 1024

/** Chooses how another agent continues a session. Throws if it cannot enforce the policy and the options. */
export function successor(
  agent: Agent,
  version: string | undefined,
  { cwd, policy, attended, options: before }: Pick<SessionRecord, 'cwd' | 'policy' | 'attended' | 'options'>,
  { launch, model }: HandOverCommand,
): Chosen {
  const { model: _, fallbackModel: __, ...kept } = before
  const options = model === undefined ? kept : { ...kept, model }
  const request = { agent: agent.id, cwd, policy, attended, ...(launch && { launch }) }
  return fittingLaunch(agent, request, version, (chosen) => {
    checkHook({ ...chosen, policy, options })
    const { version } = chosen
    const start = { launch: chosen.launch, cwd, policy, options, ...(version !== undefined && { version }) }
    launchable(chosen.recipe, { ...start, epoch: 1 })
  })
}

/** Makes the event that hands a session over to an agent, with a recap of its log. */
export async function handedOver(
  store: Store,
  record: SessionRecord,
  { agent, launch, recipe }: Chosen,
  { model }: HandOverCommand,
): Promise<SessionHandedOver> {
  const { head } = record
  const fold = await foldOf(store, record)
  const from = record.model ? `${record.agent} (${record.model})` : record.agent
  const { recap, omitted } = fold.write(`${from} worked on this session until now, and you continue it.`)
  return {
    type: 'session.handed_over',
    from: {
      agent: record.agent,
      launch: record.launch,
      ...(record.model !== undefined && { model: record.model }),
      ...(record.nativeSessionId !== undefined && { nativeSessionId: record.nativeSessionId }),
    },
    agent: agent.id,
    launch,
    policy: record.policy,
    capabilities: recipe.capabilities,
    ...(model !== undefined && { model }),
    through: head,
    recap,
    ...(omitted > 0 && { omitted }),
  }
}

/** What an agent is told of its session when its own conversation is lost. */
export async function recapForLost(store: Store, session: string): Promise<string | undefined> {
  const record = await store.record(session)
  if (!record) return undefined
  const fold = await foldOf(store, record)
  return fold.write('you worked on this session, and your conversation was lost.').recap
}

async function foldOf(store: Store, { id, head, earliest = 1 }: SessionRecord): Promise<RecapFold> {
  const fold = new RecapFold()
  for (let after = earliest - 1; after < head; ) {
    const query = { types: RECAPPED, after, last: head, limit: PAGE, maxBytes: PAGE_BYTES }
    const { entries, end } = await store.readTypes(id, query)
    // Entries that no index names are read one by one.
    const read = end > after ? entries : await store.read(id, after, PAGE, PAGE_BYTES)
    for (const entry of read) fold.add(entry)
    after = end > after ? end : (read.at(-1)?.seq ?? head)
  }
  return fold
}

/** The recap of the last hand-over; undefined without one, and if its entry was evicted. */
export async function recapIn(
  store: Store,
  { id, handedOver }: Pick<SessionRecord, 'id' | 'handedOver'>,
): Promise<string | undefined> {
  if (!handedOver) return undefined
  try {
    const entries = await store.read(id, handedOver.through, NEAR)
    for (const { event } of entries) if (event.type === 'session.handed_over') return event.recap
    return undefined
  } catch (thrown) {
    if (thrown instanceof MainstemError && thrown.code === 'cursor_gone') return undefined
    throw thrown
  }
}

/** Puts the recap before the first prompt of a conversation. A command of the agent's own terminal stays one. */
export function withRecap(recap: string | undefined, command: PromptCommand): PromptCommand {
  const { text } = command
  if (recap === undefined || verbIn(text) !== undefined || text.startsWith(recap)) return command
  return { ...command, text: `${recap}\n\n${text}` }
}

/** Refused while a turn runs or prompts wait: they were meant for the agent that has the session now. */
export async function handOver(
  parts: SessionParts,
  event: () => Promise<SessionHandedOver>,
  context?: CommandContext,
): Promise<void> {
  const { session, place, turns, conversation, log } = parts
  const check = () => {
    if (session.endsWithTurn) throw singleTask(session.id)
    if (session.isOver) throw endedConflict()
    if (turns.busy) throw new MainstemError('conflict', 'a turn is running; interrupt it first')
  }
  check()
  if (turns.isHeld) throw new MainstemError('conflict', 'somebody else takes this session over')
  turns.holdQueue()
  try {
    await place.closeIdle()
    const handedOver = await event()
    check()
    conversation.notify(handedOver)
    parts.note('agent.changed', context?.actor, { from: handedOver.from.agent, to: handedOver.agent })
  } catch (thrown) {
    turns.releaseQueue()
    throw thrown
  }
  await log.commit(context?.claims)
}
