import type { FastifyReply } from 'fastify'
import type { Share } from '../../reading/byte-budget.ts'
import { ROOM_WAIT_MS } from '../../reading/log-reader.ts'
import type { GatewayDeps } from '../deps.ts'

/** A page with this much text is full; its last message may exceed it. */
export const PAGE_BYTES = 4 * 1024 * 1024

type PagePieces = AsyncGenerator<unknown>
type PageDeps = Pick<GatewayDeps, 'pages' | 'timing' | 'report'>

/**
 * The memory reservation of one page, from before it is read until its response is sent. The log segment that filled
 * the page counts until then too, because a message larger than a page stays in memory as long.
 */
export class PageRoom {
  readonly #deps: PageDeps
  readonly #reply: FastifyReply
  readonly #gone = new AbortController()
  readonly #pieces: PagePieces[] = []
  #share: Share | undefined

  private constructor(deps: PageDeps, reply: FastifyReply) {
    this.#deps = deps
    this.#reply = reply
    if (reply.raw.destroyed) this.#gone.abort()
    reply.raw.once('close', () => {
      this.#gone.abort()
      this.#release().catch(deps.report)
    })
  }

  /** Waits for memory shared by the pages of all clients; throws `overloaded` after a timeout. */
  static async enter(deps: PageDeps, reply: FastifyReply): Promise<PageRoom> {
    const room = new PageRoom(deps, reply)
    await room.#take()
    return room
  }

  /** Aborts when the client has disconnected or has its response. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Releases the reservation while an empty page waits for its first message. */
  async waitOutside(wait: () => Promise<void>): Promise<void> {
    this.#share?.release()
    await wait()
    await this.#take()
  }

  /** Keeps the current log segment reserved until the response is sent. */
  keep(pieces: PagePieces): void {
    this.#pieces.push(pieces)
  }

  /**
   * Call this when the page is complete: a client that does not read it is disconnected, because others wait for its
   * memory.
   */
  complete(): void {
    this.#reply.raw.setTimeout(this.#deps.timing.stallMs)
  }

  async #take(): Promise<void> {
    const { principal } = this.#reply.request
    const options = { waitMs: ROOM_WAIT_MS, holder: principal }
    this.#share = await this.#deps.pages.take(PAGE_BYTES, this.signal, options)
    // The client may disconnect just as it is admitted.
    if (this.signal.aborted) this.#share?.release()
  }

  async #release(): Promise<void> {
    this.#share?.release()
    for (const pieces of this.#pieces.splice(0)) await pieces.return(undefined)
  }
}
