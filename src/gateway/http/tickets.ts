import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from './components.ts'
import { type Endpoint, endpoint } from './endpoint.ts'

const LIFETIME_MS = 30_000

/** Maximum number of unused tickets of all principals. */
const MAX_UNUSED = 1_000

/** One-time tickets that replace a token in a URL. */
export class Tickets {
  readonly #now: () => number
  /** Keyed by digest, so that the lookup time reveals nothing; in order of issue. */
  readonly #open = new Map<string, { principal: string; until: number }>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  issue(principal: string): string {
    this.#forget()
    if (this.#open.size >= MAX_UNUSED) throw new MainstemError('overloaded', 'too many tickets are unused')
    const ticket = randomBytes(32).toString('base64url')
    this.#open.set(digest(ticket), { principal, until: this.#now() + LIFETIME_MS })
    return ticket
  }

  /** Returns the principal of a ticket; undefined if the ticket was already used or has expired. */
  redeem(ticket: string): string | undefined {
    const key = digest(ticket)
    const found = this.#open.get(key)
    this.#open.delete(key)
    return found && this.#now() < found.until ? found.principal : undefined
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
    async run({ principal, reply }) {
      reply.header('cache-control', 'no-store')
      return { ticket: tickets.issue(principal), expiresInMs: LIFETIME_MS }
    },
  })
}
