import type { FastifyInstance } from 'fastify'
import { systemTimers } from '../compose/clock.ts'
import type { Wired } from '../compose/wire.ts'
import type { Phase } from '../gateway/deps.ts'
import type { BackgroundWork } from '../gateway/http/background-work.ts'
import type { Cluster } from '../nodes/cluster.ts'
import { removeAddress } from './address-file.ts'
import type { RunningCalls } from './calling.ts'
import type { Config } from './config.ts'
import { untilIdle } from './idle-exit.ts'
import type { TokenFile } from './token.ts'

/** How long a node among several answers after `/readyz` reports its stop, so that proxies notice before it closes. */
const NOTICE_MS = 3_000

/** How long clients may take to read the end of their stream when the server stops. */
const DRAIN_MS = 2_000

export interface ServerDeps {
  app: FastifyInstance
  wired: Wired
  cluster: Cluster
  runs: BackgroundWork
  phase: { now: Phase }
  /** Aborts programs that were started only to answer a status request. */
  stopping: AbortController
  calls: RunningCalls
  token: TokenFile | undefined
  config: Config
  /** The unix socket, where it listens on one. */
  local: AsyncDisposable | undefined
}

/** A listening server. */
export class Server {
  readonly #deps: ServerDeps
  readonly #patience = new AbortController()
  #closed: Promise<void> | undefined

  constructor(deps: ServerDeps) {
    this.#deps = deps
  }

  get url(): string {
    return urlOf(this.#deps.app)
  }

  /** Settles after `idleMs` without requests, running turns and calls of webhooks that have to be made again. */
  idle(idleMs: number): Promise<void> {
    const { app, wired, stopping, calls } = this.#deps
    return untilIdle({
      server: app.server,
      isBusy: async () =>
        ((await wired.sessions.counts()).get('busy') ?? 0) > 0 ||
        (await wired.sessions.records({ queued: true, limit: 1 })).length > 0 ||
        (await calls.areDue()),
      idleMs,
      timers: systemTimers,
      signal: stopping.signal,
    })
  }

  /** The token file; undefined when authentication is disabled. */
  get tokenFile(): TokenFile | undefined {
    return this.#deps.token
  }

  /**
   * Accepts no more work, lets running turns continue for a while, then stops them. Every stream gets its last message.
   * A second call stops immediately.
   */
  stop(): Promise<void> {
    if (this.#closed) this.#patience.abort()
    this.#closed ??= this.#stop()
    return this.#closed
  }

  /**
   * Stops without ending the agents that outlive a server: the next one on the same data continues them. Connections
   * are cut, and clients continue with their cursors.
   */
  leave(): Promise<void> {
    this.#closed ??= this.#leave()
    return this.#closed
  }

  async #leave(): Promise<void> {
    const { app, wired, cluster, phase, stopping } = this.#deps
    phase.now = 'draining'
    stopping.abort()
    await wired.sessions.detach()
    await cluster.pause()
    app.server.closeAllConnections()
    await this.#close()
  }

  async #stop(): Promise<void> {
    const { wired, cluster, runs, phase, stopping, config } = this.#deps
    phase.now = 'draining'
    stopping.abort()
    await cluster.announce()
    const { signal } = this.#patience
    const handedOver =
      cluster.name === undefined ? [] : [wired.sessions.handOver(), systemTimers.sleep(NOTICE_MS, signal)]
    const done = Promise.all([runs.done(), ...handedOver])
    await Promise.race([done, systemTimers.sleep(config.timeouts.drainMs, signal)])
    this.#patience.abort()
    await wired.sessions.drain()
    await runs.done()
    await cluster.leave()
    await this.#close()
  }

  async #close(): Promise<void> {
    const { app, wired, config, local, calls } = this.#deps
    const cutOff = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await Promise.all([app.close(), local?.[Symbol.asyncDispose]()])
    clearTimeout(cutOff)
    await calls.done
    // While the store is still held: afterwards the file may belong to the next server.
    if (config.durability !== 'none') await removeAddress(config.data)
    await wired[Symbol.asyncDispose]()
  }
}

/** Where a server listens. */
export function urlOf({ server }: FastifyInstance): string {
  const at = server.address()
  if (at === null || typeof at === 'string') return 'http://localhost'
  const { address, family, port } = at
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
