import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { MainstemError } from '../../model/index.ts'
import { isFairShare } from '../../sessions/log/byte-budget.ts'
import type { GatewayDeps } from '../deps.ts'
import type { Token } from './auth.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { named } from './openapi/components.ts'

const LIFETIME_MS = 30_000

/** Maximum number of unused tickets of all principals; each gets a fair share of them. */
const MAX_UNUSED = 1_000

/** One-time tickets that replace a token in a URL. */
export class Tickets {
  readonly #now: () => number
  /** Keyed by digest, so that the lookup time reveals nothing; in order of issue. */
  readonly #open = new Map<string, { token: Token; until: number }>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  issue(token: Token): string {
    this.#forget()
    const own = [...this.#open.values()].filter((one) => one.token.principal === token.principal).length
    if (!isFairShare(own + 1, MAX_UNUSED - this.#open.size - 1))
      throw new MainstemError('overloaded', `${own} tickets of this token are unused`)
    const ticket = randomBytes(32).toString('base64url')
    this.#open.set(digest(ticket), { token, until: this.#now() + LIFETIME_MS })
    return ticket
  }

  /** Returns the token that a valid ticket replaces, without using the ticket. */
  holderOf(ticket: string): Token | undefined {
    const found = this.#open.get(digest(ticket))
    return found && this.#now() < found.until ? found.token : undefined
  }

  /** Returns the token that a ticket replaces; undefined if the ticket was already used or has expired. */
  redeem(ticket: string): Token | undefined {
    const holder = this.holderOf(ticket)
    this.#open.delete(digest(ticket))
    return holder
  }

  #forget(): void {
    for (const [key, { until }] of this.#open) {
      if (this.#now() < until) return
      this.#open.delete(key)
    }
  }
}

function digest(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex')
}

const Ticket = named(
  'Ticket',
  z.strictObject({ ticket: z.string().describe('for `?ticket=`, once'), expiresInMs: z.int() }),
)

export function ticketEndpoint({ tickets }: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/tickets',
    summary: 'Issue a one-time ticket that replaces the token, for clients that cannot set a header',
    status: 201,
    answer: Ticket,
    errors: ['overloaded'],
    async run({ request, reply }) {
      reply.header('cache-control', 'no-store')
      return { ticket: tickets.issue(request.token), expiresInMs: LIFETIME_MS }
    },
  })
}
