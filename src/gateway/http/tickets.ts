import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { named } from './components.ts'
import { type Endpoint, endpoint } from './endpoint.ts'

const LIFETIME_MS = 30_000

/** Tickets that are out at the same time, of everybody. */
const MOST = 1_000

/** Stand in for a token once, where a token must not be: in a URL. */
export class Tickets {
  readonly #now: () => number
  /** By digest, so that looking one up tells nothing by its time; in order of issue. */
  readonly #open = new Map<string, { principal: string; until: number }>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  issue(principal: string): string {
    this.#forget()
    if (this.#open.size >= MOST) throw new MainstemError('overloaded', 'too many tickets are unused')
    const ticket = randomBytes(32).toString('base64url')
    this.#open.set(digest(ticket), { principal, until: this.#now() + LIFETIME_MS })
    return ticket
  }

  /** Whose it is; nobody's the second time, or when it is too old. */
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
    summary: 'A ticket that stands in for the token once, for a client that cannot set a header',
    status: 201,
    answer: Ticket,
    errors: ['overloaded'],
    async run({ principal, reply }) {
      reply.header('cache-control', 'no-store')
      return { ticket: tickets.issue(principal), expiresInMs: LIFETIME_MS }
    },
  })
}
