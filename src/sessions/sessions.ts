import {
  DEFAULT_POLICY,
  type Entry,
  MainstemError,
  NativeSessionId,
  Policy,
  SessionOptions,
} from '../model/index.ts'
import type { Receipt } from '../stores/store.ts'
import { follow } from './follow.ts'
import type { NewSession, SessionParts } from './parts.ts'
import { Session } from './session.ts'

export interface IdempotencyKey {
  /** Who asks, and where: the same key of somebody else is another key. */
  scope: string
  key: string
  fingerprint: string
}

/** All sessions of this process. */
export class Sessions {
  readonly #parts: SessionParts
  readonly #running = new Map<string, Session>()
  #draining = false

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  async create(request: NewSession): Promise<Session> {
    return this.#open(this.#prepare(request, this.#parts.newId()))
  }

  /**
   * The same key and fingerprint give the same session, however often it is asked for;
   * `begin` runs for the first of them only.
   */
  async createOnce(
    once: IdempotencyKey,
    request: NewSession,
    begin: (session: Session) => Promise<void>,
  ): Promise<{ id: string; replayed: boolean }> {
    const session = this.#prepare(request, this.#parts.newId())
    const receipt = await this.#parts.store.claim({ ...once, session: session.id })
    checkFingerprint(receipt, once)
    if (receipt.session !== session.id) return { id: receipt.session, replayed: true }
    await begin(await this.#open(session))
    return { id: session.id, replayed: false }
  }

  /** The session that a key stands for, if it was used; nothing is started. */
  async find(once: IdempotencyKey): Promise<string | undefined> {
    const receipt = await this.#parts.store.receipt(once.scope, once.key)
    if (receipt) checkFingerprint(receipt, once)
    return receipt?.session
  }

  /** A session that this process runs. */
  get(id: string): Session | undefined {
    return this.#running.get(id)
  }

  head(id: string): Promise<number> {
    return this.#parts.store.head(id)
  }

  /** Replay, then live. */
  follow(id: string, after: number, signal: AbortSignal): AsyncIterable<readonly Entry[]> {
    return follow(this.#parts.store, id, after, signal)
  }

  /** Refuses what cannot be done before anything has started. */
  #prepare(request: NewSession, id: string): Session {
    if (this.#draining) throw new MainstemError('draining', 'the server is stopping')
    const agent = this.#parts.agents.get(request.agent)
    if (!agent) {
      const known = [...this.#parts.agents.keys()].join(', ')
      throw new MainstemError(
        'agent_not_found',
        `there is no agent "${request.agent}"; known agents: ${known}`,
      )
    }
    const launch = request.launch ?? (agent.launches.live ? 'live' : 'oneshot')
    const recipe = agent.launches[launch]
    if (!recipe) throw new MainstemError('unsupported_option', `${agent.id} has no ${launch} launch`)
    const { cwd, attended = true } = request
    const policy = parse(Policy, request.policy ?? DEFAULT_POLICY, 'policy')
    const options = parse(SessionOptions, request.options ?? {}, 'options')
    const resume = request.resume === undefined ? undefined : parse(NativeSessionId, request.resume, 'resume')
    // Made once for its refusals: an option that cannot be enforced is told now, not in the middle of a turn.
    recipe.launch({ launch, cwd, policy, options, epoch: 1, ...(resume !== undefined && { resume }) })
    return new Session({ id, agent, recipe, launch, cwd, policy, options, resume, attended }, this.#parts)
  }

  async #open(session: Session): Promise<Session> {
    this.#running.set(session.id, session)
    await session.open()
    return session
  }

  /** Ends a session and forgets the running part of it; its log stays. */
  async end(id: string): Promise<void> {
    await this.#running.get(id)?.end()
    this.#running.delete(id)
  }

  /** Takes no more work and ends what runs; every open turn gets its terminal event. */
  async drain(): Promise<void> {
    this.#draining = true
    await Promise.allSettled([...this.#running.values()].map((session) => session.end('drain')))
    this.#running.clear()
  }
}

function checkFingerprint(receipt: Receipt, once: IdempotencyKey): void {
  if (receipt.fingerprint === once.fingerprint) return
  throw new MainstemError('idempotency_conflict', `key "${once.key}" was used for a different request`)
}

interface Schema<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } }
}
interface Issue {
  path: readonly PropertyKey[]
  message: string
}

function parse<T>(schema: Schema<T>, value: unknown, name: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = [name, ...(issue?.path ?? [])].join('.')
  throw new MainstemError('invalid_request', `${path}: ${issue?.message ?? 'not valid'}`)
}
