import { MainstemError } from '../../../model/index.ts'
import { ChunkPace } from './chunk-pace.ts'

/** Imports of one principal at the same time. */
const MAX_IMPORTS = 8

const RETRY_AFTER_S = 5

/** Bytes that uploads hold together, and the most they may. */
interface Account {
  readonly limit: number
  held: number
}

export interface Uploader {
  /** Empty before authentication. */
  principal: string
  address: string
}

/**
 * Limits the memory of request bodies while they arrive: of each principal, of each address without a token, of all
 * clients without a token, and of all together. A body that is alone in an account may exceed its limit, so that a
 * small server still accepts the largest body that a route allows. It also limits how fast the chunks of each may come.
 */
export class UploadRoom {
  readonly #all: Account
  readonly #anonymous: Account
  readonly #each: number
  readonly #accounts = new Map<string, Account & { users: number; imports: number }>()
  readonly #pace: ChunkPace

  constructor(bytes: number, pace = new ChunkPace()) {
    this.#pace = pace
    this.#all = { limit: bytes, held: 0 }
    this.#anonymous = { limit: bytes / 2, held: 0 }
    this.#each = bytes / 4
  }

  get held(): number {
    return this.#all.held
  }

  /** The number of open imports of a principal. */
  imports(principal: string): number {
    return this.#accounts.get(`principal ${principal}`)?.imports ?? 0
  }

  /** Begins an upload. Throws `overloaded` if the principal has too many imports open. */
  enter({ principal, address }: Uploader, kind: 'body' | 'import'): Upload {
    const key = principal === '' ? `address ${address}` : `principal ${principal}`
    const account = this.#accounts.get(key) ?? { limit: this.#each, held: 0, users: 0, imports: 0 }
    if (kind === 'import' && account.imports >= MAX_IMPORTS)
      throw overloaded(`${MAX_IMPORTS} imports of this token are already running`)
    this.#accounts.set(key, account)
    account.users++
    if (kind === 'import') account.imports++
    const leave = () => {
      if (kind === 'import') account.imports--
      if (--account.users === 0) this.#accounts.delete(key)
    }
    const accounts = [account, ...(principal === '' ? [this.#anonymous] : []), this.#all]
    return new Upload(accounts, leave, { client: key, pace: this.#pace })
  }
}

/** The reservation of one body. */
export class Upload {
  readonly #accounts: readonly Account[]
  readonly #left: () => void
  readonly #client: string
  readonly #pace: ChunkPace
  #held = 0

  constructor(
    accounts: readonly Account[],
    left: () => void,
    { client, pace }: { client: string; pace: ChunkPace },
  ) {
    this.#accounts = accounts
    this.#left = left
    this.#client = client
    this.#pace = pace
  }

  /** Counts chunks. Returns whether the client must wait before it may send more. */
  arrived(chunks: number): boolean {
    return this.#pace.arrived(this.#client, chunks)
  }

  /** Settles when the client may send more. */
  mayGoOn(): Promise<void> {
    return this.#pace.wait(this.#client)
  }

  /** Sets the number of bytes that the body holds. Throws `overloaded` if they do not fit. */
  hold(bytes: number): void {
    const more = bytes - this.#held
    const isFull = ({ held, limit }: Account) => held !== this.#held && held + more > limit
    if (more > 0 && this.#accounts.some(isFull))
      throw overloaded('other requests use the memory for request bodies')
    for (const account of this.#accounts) account.held += more
    this.#held = bytes
  }

  leave(): void {
    this.hold(0)
    this.#left()
  }
}

function overloaded(message: string): MainstemError {
  return new MainstemError('overloaded', message, { retryAfter: RETRY_AFTER_S })
}
