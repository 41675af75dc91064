import { MainstemError, toMainstemError } from '../model/index.ts'
import type { NewSession } from '../model/session/new-session.ts'
import { parseField } from '../model/text/parse.ts'
import { recordOf } from '../reading/session-logs.ts'
import type { IdempotencyKey } from '../sessions/claim.ts'
import type { CommandContext } from '../sessions/command-context.ts'
import { until } from '../sessions/with-timeout.ts'
import type { NodeDeps } from './deps.ts'
import type { Executor } from './executor.ts'
import { candidates, directoriesOf, type Self } from './placement.ts'
import { CommandResults, type NodeCommandBody, NodeOutcome, type SessionCommand } from './wire.ts'

/** The interval of lookups of the owner while a command waits for its outcome. */
const LOOK_MS = 1_000
/** The pause between attempts while the session changes its owner. */
const PAUSE_MS = 200
/** A command waits until the lease of a dead owner has expired, plus this time. */
const SPARE_MS = 15_000
/** The time limit of a node to create a session, before the next node is tried. */
const CREATE_MS = 15_000

const NEVER = new AbortController().signal

/** Sends commands to the node that owns a session, and new sessions to the node that can run them best. */
export class Router {
  readonly #deps: NodeDeps
  readonly #executor: Executor

  constructor(deps: NodeDeps, executor: Executor) {
    this.#deps = deps
    this.#executor = executor
  }

  /**
   * Has the owner of a session apply a command, and returns the result. If the owner stops meanwhile, the next owner or
   * this node applies it. Its key makes it take effect once, even if several nodes try.
   */
  async send(session: string, command: SessionCommand, context: CommandContext = {}): Promise<unknown> {
    const { terms, newId, clock, background } = this.#deps
    const id = newId()
    const { claims = [], actor } = context
    const sender = actor && { actor }
    const body: NodeCommandBody = { kind: 'session', session, command, claims: [...claims], ...sender }
    const deadline = clock.monotonic() + terms.ttlMs + SPARE_MS
    let target = ''
    while (clock.monotonic() < deadline) {
      target = await this.#ownerOf(session)
      const outcome =
        target === terms.owner
          ? await this.#applyHere(id, session, command, context)
          : await this.#sendTo(target, id, body, deadline, () => this.#isOwner(session, target))
      if (outcome && 'error' in outcome) throw errorOf(outcome.error)
      if (outcome && 'result' in outcome) return outcome.result
      await background.sleep(PAUSE_MS, NEVER)
    }
    throw new MainstemError(
      'timeout',
      `node "${target}" did not apply the command in time; it may still do so`,
      { advice: 'Read the session before you send the command again, or use an Idempotency-Key.' },
    )
  }

  /** Creates a session on the best node that accepts it. The key prevents a second session if several nodes are tried. */
  async create(
    once: IdempotencyKey,
    request: NewSession,
    { prompt, actor, forkOf }: CommandContext & { prompt: string | undefined },
    here: () => Promise<{ id: string; created: boolean }>,
  ): Promise<{ id: string; created: boolean; node: string }> {
    const { store, terms, newId, clock } = this.#deps
    const directories = directoriesOf(request)
    const places = candidates(request, await store.nodes.list(), this.#self, directories.slice(1))
    let refusal = noPlace(request, directories)
    for (const node of places) {
      try {
        if (node === terms.owner) return { ...(await here()), node }
        const body: NodeCommandBody = {
          kind: 'create',
          once,
          request,
          ...(prompt !== undefined && { prompt }),
          ...(actor && { actor }),
          ...(forkOf !== undefined && { forkOf }),
        }
        const deadline = clock.monotonic() + CREATE_MS
        const outcome = await this.#sendTo(node, newId(), body, deadline, () => this.#isLive(node))
        if (outcome && 'error' in outcome) throw errorOf(outcome.error)
        if (outcome && 'result' in outcome)
          return { ...parseField(CommandResults.create, outcome.result, 'result'), node }
      } catch (thrown) {
        refusal = toMainstemError(thrown)
        if (!ELSEWHERE.has(refusal.code)) throw refusal
      }
    }
    throw refusal
  }

  /** Whether any live node could have this directory. */
  async hasPlace(cwd: string): Promise<boolean> {
    const { store } = this.#deps
    return candidates({ cwd }, await store.nodes.list(), this.#self).length > 0
  }

  /** This node, as one that may run sessions; it runs none when it stops. */
  get #self(): Self {
    const { terms, mayRun, info } = this.#deps
    return { name: terms.owner, mayRun: (session) => !info().draining && mayRun(session) }
  }

  /** The node to send a command to: the owner, or the best node to become the owner. */
  async #ownerOf(session: string): Promise<string> {
    const { store, terms } = this.#deps
    const owner = await store.nodes.ownerOf(session)
    if (owner !== undefined) return owner
    const record = await recordOf(this.#deps.store, session)
    // The session has ended or has nothing to run, and any node can respond so.
    if (record.status === 'ended') return terms.owner
    const nodes = await store.nodes.list()
    const last = nodes.find(({ name }) => name === record.node)
    // The agent's native files of the conversation are on the node where it ran last.
    if (last?.live && !last.draining) return last.name
    if (this.#self.mayRun(record)) return terms.owner
    const [best] = candidates(record, nodes, this.#self)
    if (best === undefined) throw noPlace(record, [record.cwd])
    return best
  }

  async #isOwner(session: string, node: string): Promise<boolean> {
    const owner = await this.#deps.store.nodes.ownerOf(session)
    return owner === node || (owner === undefined && (await this.#isLive(node)))
  }

  async #isLive(name: string): Promise<boolean> {
    return (await this.#deps.store.nodes.list()).some((node) => node.name === name && node.live)
  }

  async #applyHere(
    id: string,
    session: string,
    command: SessionCommand,
    context: CommandContext,
  ): Promise<NodeOutcome | undefined> {
    try {
      return { result: await this.#executor.applyOnce(id, session, command, context) }
    } catch (thrown) {
      // Another node was faster.
      if (toMainstemError(thrown).code === 'fenced') return undefined
      throw thrown
    }
  }

  /** Undefined if the node no longer owns the session. */
  async #sendTo(
    node: string,
    id: string,
    body: NodeCommandBody,
    deadline: number,
    isRight: () => Promise<boolean>,
  ): Promise<NodeOutcome | undefined> {
    const { store, background, clock } = this.#deps
    const isUrgent =
      body.kind === 'session' && (body.command.type === 'interrupt' || body.command.type === 'interrupt_all')
    const leftMs = deadline - clock.monotonic()
    await store.nodes.send({ id, node, urgent: isUrgent, body: JSON.stringify(body) }, leftMs)
    while (clock.monotonic() < deadline) {
      const text = await until(background, LOOK_MS, NEVER, (signal) => store.nodes.outcome(id, signal))
      if (text !== undefined) return parseField(NodeOutcome, JSON.parse(text), 'outcome')
      if (!(await isRight())) return undefined
    }
    return undefined
  }
}

/** Refusals after which another node may still accept a new session. */
const ELSEWHERE: ReadonlySet<string> = new Set(['forbidden', 'overloaded', 'draining'])

function errorOf({
  code,
  message,
  details,
}: Extract<NodeOutcome, { error: unknown }>['error']): MainstemError {
  return new MainstemError(code, message, details)
}

function noPlace({ labels = [] }: Pick<NewSession, 'labels'>, directories: readonly string[]): MainstemError {
  const needed = labels.length > 0 ? ` with the labels ${labels.join(', ')}` : ''
  const message = `no live node${needed} has a root above ${directories.join(' and ')}`
  const advice = 'Start a node that has it, or choose another directory; `mainstem nodes` lists the nodes.'
  return new MainstemError('overloaded', message, { retryAfter: 10, advice })
}
