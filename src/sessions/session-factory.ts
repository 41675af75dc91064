import { DEFAULT_POLICY, NativeSessionId, Policy, SessionOptions } from '../model/index.ts'
import { parseField } from '../model/parse.ts'
import type { SessionState } from '../stores/store.ts'
import type { NewSession, SessionDeps } from './deps.ts'
import { draining } from './draining.ts'
import { launchable } from './launchable.ts'
import { CREATED_FENCE } from './ownership.ts'
import { agentOf, chooseRecipe, restoreRecipe } from './recipes.ts'
import { newRecord } from './record.ts'
import { OWNER } from './secrets.ts'
import { Session } from './session.ts'
import { allowedMode, checkHook, startOf } from './setup.ts'
import type { LeasedSession } from './takeover.ts'

/** Creates new sessions and restores stored ones. */
export class SessionFactory {
  readonly #deps: SessionDeps
  readonly #isDraining: () => boolean

  constructor(deps: SessionDeps, isDraining: () => boolean) {
    this.#deps = deps
    this.#isDraining = isDraining
  }

  /** Validates a request and creates its session. Nothing is started or stored yet. */
  async prepare(request: NewSession): Promise<Session> {
    const version = await this.#versionOf(request.agent)
    this.#checkTakesWork()
    const { cwd, project, name, attended = true, principal = OWNER, labels } = request
    const chosen = chooseRecipe(agentOf(this.#deps.agents, request.agent), request, version)
    const policy = parseField(Policy, request.policy ?? DEFAULT_POLICY, 'policy')
    const options = parseField(SessionOptions, request.options ?? {}, 'options')
    const resume =
      request.resume === undefined ? undefined : parseField(NativeSessionId, request.resume, 'resume')
    checkHook({ ...chosen, policy, options })
    // Called for its refusals only: an option that cannot be enforced must fail now, not in the middle of a turn.
    const prompt = { text: '', images: options.images ?? [] }
    const id = this.#deps.newId()
    const setup = { id, ...chosen, cwd, project, name, policy, mode: undefined, options, resume, attended }
    launchable(setup.recipe, { ...startOf(setup), epoch: 1, prompt })
    const state = newRecord(setup, principal, this.#deps.clock.now())
    if (labels) state.labels = [...labels]
    this.#runHere(state)
    return new Session(setup, this.#deps, state, { head: 0, updatedAt: 0, fence: CREATED_FENCE })
  }

  /** Restores a stored session. */
  async restore({ record, fence }: LeasedSession): Promise<Session> {
    const version = await this.#versionOf(record.agent)
    this.#checkTakesWork()
    const { head, updatedAt, earliest, earliestFrame, ...state } = record
    // The configuration may allow less than when the session was created.
    state.policy = this.#deps.limit?.(state.policy) ?? state.policy
    state.options = this.#deps.limitOptions?.(state.options) ?? state.options
    this.#runHere(state)
    const { id, cwd, project, name, policy, options, attended } = state
    const mode = allowedMode(state, this.#deps.limit)
    const resume = state.nativeSessionId ?? state.resumedFrom
    const chosen = restoreRecipe(agentOf(this.#deps.agents, state.agent), state.launch, version)
    const setup = { id, ...chosen, cwd, project, name, policy, mode, options, resume, attended }
    const start = { ...(earliest && { earliest }), ...(earliestFrame && { earliestFrame }) }
    return new Session(setup, this.#deps, state, { head, updatedAt, ...start, fence })
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
