import type { HandOverCommand } from '../model/request/command.ts'
import type { NewSession } from '../model/session/new-session.ts'
import type { Feed } from '../reading/feed.ts'
import type { IdempotencyKey } from '../sessions/claim.ts'
import type { CommandContext } from '../sessions/command-context.ts'
import { parseHandOver, parseNewSession, parsePrompt } from '../sessions/commands.ts'
import type { SessionHandle } from '../sessions/session-handle.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { RegisteredNode } from '../stores/nodes.ts'
import type { NodeDeps } from './deps.ts'
import { Executor, NODE_SCOPE } from './executor.ts'
import { Inbox } from './inbox.ts'
import { Membership } from './membership.ts'
import { withDirectories } from './placement.ts'
import { RoutedSession } from './routed-session.ts'
import { Router } from './router.ts'
import { sharedFeed } from './shared-feed.ts'
import type { SessionCommand } from './wire.ts'

export type { RegisteredNode }

/** The interval of the search for sessions whose node has stopped. */
const ORPHANS_MS = 1_000
/** The number of sessions to take over at a time, so that other nodes take over some as well. */
const ORPHANS = 32

interface Peers {
  node: NodeDeps
  router: Router
  feed: Feed
  membership: Membership
}

/**
 * All sessions of a store. Applies a command locally, or sends it to the node that owns the session. With a store that
 * only one server uses, all commands are local.
 */
export class Cluster {
  readonly #local: Sessions
  readonly #executor: Executor
  readonly #peers: Peers | undefined
  readonly #stop = new AbortController()
  readonly #loops: Promise<void>[] = []

  constructor(
    local: Sessions,
    store: ConstructorParameters<typeof Executor>[1],
    track: (work: Promise<unknown>) => void,
    node?: NodeDeps,
  ) {
    this.#local = local
    this.#executor = new Executor(local, store, track)
    this.#peers = node && {
      node,
      router: new Router(node, this.#executor),
      feed: sharedFeed(node.store.nodes.commits, node.background),
      membership: new Membership(node, (error) => local.ownership.lose(error)),
    }
  }

  /** The name of this node; undefined with a single server. */
  get name(): string | undefined {
    return this.#peers?.node.terms.owner
  }

  /** The commits of all nodes; undefined with a single server. */
  get feed(): Feed | undefined {
    return this.#peers?.feed
  }

  /** Registers this node, which makes it visible to the others. */
  async join(): Promise<void> {
    if (!this.#peers) return
    const { membership } = this.#peers
    await membership.join(this.#stop.signal)
    this.#loops.push(membership.keep(this.#stop.signal))
  }

  /** Starts to apply commands of other nodes, and to take over sessions of nodes that stopped. */
  start(): void {
    if (!this.#peers) return
    const { node } = this.#peers
    const inbox = new Inbox(node, this.#local, this.#executor)
    this.#loops.push(inbox.run(this.#stop.signal), this.#takeOrphans(node, this.#stop.signal))
  }

  /** Announces to the other nodes that this one is stopping. */
  async announce(): Promise<void> {
    // If this fails, the next registration announces it.
    await this.#peers?.membership.announce().catch(this.#peers.node.report)
  }

  /** Does nothing more, and stays registered: this node returns before its leases end. */
  async pause(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#loops)
  }

  /** Ends the registration. Call it when no session runs here. */
  async leave(): Promise<void> {
    await this.pause()
    await this.#peers?.membership.leave().catch(this.#peers.node.report)
  }

  async nodes(): Promise<readonly RegisteredNode[]> {
    return (await this.#peers?.membership.list()) ?? []
  }

  /** Whether a node may have this directory. */
  async hasPlace(directory: string): Promise<boolean> {
    return (await this.#peers?.router.hasPlace(directory)) ?? false
  }

  /** A session, ready for commands. */
  async open(id: string): Promise<SessionHandle> {
    const local = this.#local.get(id)
    if (local || !this.#peers) return local ?? this.#local.open(id)
    return routed(id, this.#peers)
  }

  /** Returns a session that is running on any node. Starts nothing. */
  async running(id: string): Promise<SessionHandle | undefined> {
    // A session whose log cannot be written runs no longer, which the caller must not take for the end of its turn.
    await this.#local.repair(id)
    const local = this.#local.get(id)
    if (local || !this.#peers) return local
    const { store } = this.#peers.node
    const owner = await store.nodes.ownerOf(id)
    if (owner !== undefined && owner !== this.name) return routed(id, this.#peers)
    // The owner has stopped: its turn is not closed yet, or a continuation waits for the next owner.
    const { openTurn, queue = [] } = (await store.record(id)) ?? {}
    const isOpen = openTurn !== undefined || queue.some(({ continuation }) => continuation)
    return isOpen ? routed(id, this.#peers) : undefined
  }

  /** Has this server wait for the turn before it stops, if the turn runs here. */
  track(session: SessionHandle, turn: number): void {
    if (!(session instanceof RoutedSession)) this.#executor.trackTurn(session, turn)
  }

  async create(request: NewSession, prompt?: string, context?: CommandContext): Promise<SessionHandle> {
    if (!this.#peers) return this.#local.create(request, prompt, context)
    const once = { scope: NODE_SCOPE, key: this.#peers.node.newId(), fingerprint: '' }
    const { id, session } = await this.createOnce(once, async () => request, prompt, context)
    return session ?? this.open(id)
  }

  /** The same key and fingerprint return the same session on every node; `session` is set only for the call that created it. */
  async createOnce(
    once: IdempotencyKey,
    wanted: () => Promise<NewSession>,
    prompt?: string,
    context?: CommandContext,
  ): Promise<{ id: string; session?: SessionHandle }> {
    if (!this.#peers) return this.#local.createOnce(once, wanted, prompt, context)
    const before = await this.#local.receipts.find(once)
    if (before) return { id: before.session }
    const { node } = this.#peers
    const { keys, ...request } = parseNewSession(await wanted())
    if (prompt !== undefined) parsePrompt(prompt)
    let session: SessionHandle | undefined
    const { id, created } = await this.#peers.router.create(
      once,
      request,
      { ...context, prompt },
      async () => {
        // Only this node gets the keys: what goes to another one is stored.
        const here = () => withDirectories({ ...request, ...(keys && { keys }) }, node.directory)
        const made = await this.#local.createOnce(once, here, prompt, context)
        session = made.session
        return { id: made.id, created: made.session !== undefined }
      },
    )
    return { id, ...(created && { session: session ?? routed(id, this.#peers) }) }
  }

  /** Has another agent continue a session. */
  async continueWith(id: string, command: HandOverCommand, context?: CommandContext): Promise<void> {
    await this.#command(id, parseHandOver(command), context)
  }

  /** Ends a session; its log stays. */
  async end(id: string, context?: CommandContext): Promise<void> {
    await this.#command(id, { type: 'end' }, context)
  }

  /** Ends a session whose single task is done. */
  async finish(id: string): Promise<void> {
    await this.#command(id, { type: 'finish' })
  }

  /** Ends a session and removes all of its data. */
  async delete(id: string, context?: CommandContext): Promise<void> {
    await this.#command(id, { type: 'delete' }, context)
  }

  /** Stores the idempotency keys of a command without effect. */
  async remember(id: string, context: CommandContext): Promise<void> {
    await this.#command(id, { type: 'remember' }, context)
  }

  async #command(id: string, command: SessionCommand, context: CommandContext = {}): Promise<void> {
    if (!this.#peers || this.#local.get(id)) await this.#executor.apply(id, command, context)
    else await this.#peers.router.send(id, command, context)
  }

  async #takeOrphans(node: NodeDeps, signal: AbortSignal): Promise<void> {
    const { store, background, track, report } = node
    while (!signal.aborted) {
      try {
        for (const id of await store.nodes.orphans(ORPHANS)) await this.#local.takeOver(id)
        track(this.#local.resumeQueues())
      } catch (thrown) {
        report(thrown)
      }
      await background.sleep(ORPHANS_MS, signal)
    }
  }
}

function routed(id: string, { node, router }: Peers): RoutedSession {
  return new RoutedSession(id, router, node.store, node.background)
}
