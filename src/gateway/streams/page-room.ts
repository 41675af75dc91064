import type { FastifyReply } from 'fastify'
import type { Share } from '../../sessions/byte-budget.ts'
import { ROOM_WAIT_MS } from '../../sessions/log-reader.ts'
import type { GatewayDeps } from '../deps.ts'

/** A page with this much text is full; its last message may be larger than that. */
export const PAGE_BYTES = 4 * 1024 * 1024

type Pieces = AsyncGenerator<unknown>
type Deps = Pick<GatewayDeps, 'pages' | 'timing' | 'report'>

/**
 * The memory of one page, from before it is read until its response is sent. The piece of the log that filled the
 * page counts until then too: a message larger than a page is in memory for just as long.
 */
export class PageRoom {
  readonly #deps: Deps
  readonly #reply: FastifyReply
  readonly #gone = new AbortController()
  readonly #pieces: Pieces[] = []
  #share: Share | undefined

  private constructor(deps: Deps, reply: FastifyReply) {
    this.#deps = deps
    this.#reply = reply
    if (reply.raw.destroyed) this.#gone.abort()
    reply.raw.once('close', () => {
      this.#gone.abort()
      this.#release().catch(deps.report)
    })
  }

  /** Waits for room among the pages of all clients; refuses with `overloaded` when there is none for too long. */
  static async enter(deps: Deps, reply: FastifyReply): Promise<PageRoom> {
    const room = new PageRoom(deps, reply)
    await room.#take()
    return room
  }

  /** Fires when the client is gone, or has its response. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Gives the room to others while an empty page waits for its first message. */
  async waitOutside(wait: () => Promise<void>): Promise<void> {
    this.#share?.release()
    await wait()
    await this.#take()
  }

  /** Keeps the current piece of a log counted until the response is sent. */
  keep(pieces: Pieces): void {
    this.#pieces.push(pieces)
  }

  /** Call when the page is complete: a client that does not take it is cut off, because others wait for its room. */
  complete(): void {
    this.#reply.raw.setTimeout(this.#deps.timing.stallMs)
  }

  async #take(): Promise<void> {
    this.#share = await this.#deps.pages.take(PAGE_BYTES, this.signal, ROOM_WAIT_MS)
    // The client may leave at the moment it is admitted.
    if (this.signal.aborted) this.#share?.release()
  }

  async #release(): Promise<void> {
    this.#share?.release()
    for (const pieces of this.#pieces.splice(0)) await pieces.return(undefined)
  }
}
