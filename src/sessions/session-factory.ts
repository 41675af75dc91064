import type { SessionHandedOver } from '../model/events/session.ts'
import { DEFAULT_POLICY, type SessionRecord } from '../model/index.ts'
import { OWNER } from '../model/owner.ts'
import type { HandOverCommand } from '../model/request/command.ts'
import type { NewSession } from '../model/session/new-session.ts'
import type { SessionState } from '../stores/store.ts'
import { parseNewSession } from './commands.ts'
import type { SessionDeps } from './deps.ts'
import { handedOver, recapIn, successor } from './hand-over/hand-over.ts'
import { newRecord } from './machine/record.ts'
import type { Started } from './machine/sent.ts'
import { fittingLaunch } from './process/fitting-launch.ts'
import { launchable } from './process/launchable.ts'
import { agentOf, type Chosen, restoreRecipe } from './process/recipes.ts'
import { allowedMode, checkHook, requireVerb, startOf } from './process/setup.ts'
import { CREATED_FENCE } from './recovery/ownership.ts'
import { checkAllowed, startOfRun } from './recovery/reattach.ts'
import type { LeasedSession, LeftSession } from './recovery/takeover.ts'
import { draining } from './refusals.ts'
import { Session } from './session.ts'

/** Creates new sessions and restores stored ones. */
export class SessionFactory {
  readonly #deps: SessionDeps
  readonly #isDraining: () => boolean

  constructor(deps: SessionDeps, isDraining: () => boolean) {
    this.#deps = deps
    this.#isDraining = isDraining
  }

  /** Validates a request and creates its session. Nothing is started or stored yet. */
  async prepare(wanted: NewSession): Promise<Session> {
    const request = parseNewSession(wanted)
    const version = await this.#versionOf(request.agent)
    this.#checkTakesWork()
    const { cwd, project, name, attended = true, principal = OWNER, labels, resume, fork = false } = request
    const { policy = DEFAULT_POLICY, options = {}, keys } = request
    const id = this.#deps.newId()
    const wish = { id, cwd, project, name, policy, mode: undefined, options, resume, fork, attended, keys }
    const prompt = { text: '', images: options.images ?? [] }
    // An option that cannot be enforced must fail now, not in the middle of a turn.
    const check = (chosen: Chosen) => {
      if (fork) requireVerb(chosen, 'fork')
      checkHook({ ...chosen, policy, options })
      launchable(chosen.recipe, { ...startOf({ ...wish, ...chosen }), epoch: 1, prompt })
    }
    const agent = agentOf(this.#deps.agents, request.agent)
    const setup = { ...wish, ...fittingLaunch(agent, request, version, check) }
    const state = newRecord(setup, principal, this.#deps.clock.now())
    const { onLimit } = options
    if (typeof onLimit === 'object') await this.#checkSuccessor(state, onLimit.continueAs)
    if (labels) state.labels = labels
    if (request.single) state.single = true
    if (fork) state.fork = true
    this.#runHere(state)
    return new Session(setup, this.#deps, state, { head: 0, updatedAt: 0, fence: CREATED_FENCE })
  }

  /** Lowers a request to what this server allows. */
  limited(request: NewSession): NewSession {
    return { ...request, ...this.#allowed(request) }
  }

  /** The configuration may allow less than when a session was created. */
  #allowed<Of extends Pick<NewSession, 'policy' | 'options'>>({ policy, options }: Of) {
    const { limit, limitOptions } = this.#deps
    return {
      ...(policy && { policy: limit?.(policy) ?? policy }),
      ...(options && { options: limitOptions?.(options) ?? options }),
    }
  }

  /** Restores a stored session; with `started`, to continue the process that an earlier owner left. */
  async restore({ record, fence }: LeasedSession, started?: Started): Promise<Session> {
    const version = started ? started.start.version : await this.#versionOf(record.agent)
    this.#checkTakesWork()
    const { head, updatedAt, earliest, earliestFrame, failure: _, ...state } = record
    const asked = [state.policy, state.options]
    Object.assign(state, this.#allowed(state))
    if (started) checkAllowed(asked, [state.policy, state.options])
    this.#runHere(state)
    const { id, cwd, project, name, policy, options, attended } = state
    const mode = allowedMode(state, this.#deps.limit)
    const resume = state.nativeSessionId ?? state.resumedFrom
    const chosen = restoreRecipe(agentOf(this.#deps.agents, state.agent), state.launch, version)
    const before = started?.before
    const fork = state.fork === true && resume === state.resumedFrom
    const recap = resume === undefined ? await recapIn(this.#deps.store, record) : undefined
    const common = { cwd, project, name, policy, mode, options, resume, fork, attended, before, recap }
    const setup = { id, ...chosen, ...common }
    const start = { ...(earliest && { earliest }), ...(earliestFrame && { earliestFrame }) }
    return new Session(setup, this.#deps, state, { head, updatedAt, ...start, fence })
  }

  /** Restores a session with the process that an earlier owner left. */
  async reattach({ left, ...leased }: LeftSession): Promise<Session> {
    const { store, driver } = this.#deps
    const kept = driver.lasting?.kept(left.runId, leased.record.frames) ?? new Map()
    const started = await startOfRun(store, kept, leased.record.id, left.frame)
    const session = await this.restore(leased, started)
    await session.reattach(started, left)
    return session
  }

  /** An agent that cannot continue must be refused now, not when the limit is reached. */
  async #checkSuccessor(state: SessionState, id: string): Promise<void> {
    const agent = agentOf(this.#deps.agents, id)
    successor(agent, await this.#versionOf(id), state, { type: 'hand_over', agent: id })
  }

  /** Checks that an agent can continue a session. Returns what makes the event that hands it over. */
  async successor(
    record: SessionRecord,
    command: HandOverCommand,
  ): Promise<(record: SessionRecord) => Promise<SessionHandedOver>> {
    const { agents, store } = this.#deps
    const agent = agentOf(agents, command.agent)
    const chosen = successor(agent, await this.#versionOf(agent.id), record, command)
    return (ended) => handedOver(store, ended, chosen, command)
  }

  #runHere(state: SessionState): void {
    if (this.#deps.node !== undefined) state.node = this.#deps.node
  }

  async #versionOf(id: string): Promise<string | undefined> {
    return this.#deps.versionOf?.(agentOf(this.#deps.agents, id))
  }

  #checkTakesWork(): void {
    if (this.#isDraining()) throw draining()
  }
}
