import * as z from 'zod'
import type { GatewayDeps } from '../deps.ts'
import type { Token } from './auth.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { named } from './openapi/components.ts'
import { signedFor, signFor } from './signed-value.ts'

const LIFETIME_MS = 30_000

const PURPOSE = 'ticket'

/** The ids of tickets that were used, which all servers of a store share, and its clock. */
export interface UsedTickets {
  now(): Promise<number>
  /** Returns false if the id was used before, or is not valid now. */
  consume(id: string, valid: { from: number; until: number }): Promise<boolean>
}

/** One-time tickets that replace a token in a URL. A ticket is signed, so nothing is stored before it is used. */
export class Tickets {
  readonly #used: UsedTickets

  constructor(used: UsedTickets) {
    this.#used = used
  }

  async issue(token: Token): Promise<string> {
    return signFor(PURPOSE, token, Math.floor(await this.#used.now()))
  }

  /** Returns the token that a ticket replaces, without using the ticket; the ticket may be used or expired. */
  holderOf(ticket: string, known: readonly Token[]): Token | undefined {
    return signedFor(PURPOSE, known, ticket)?.token
  }

  /** Returns the token that a ticket replaces; undefined if the ticket was already used or has expired. */
  async redeem(ticket: string, known: readonly Token[]): Promise<Token | undefined> {
    const found = signedFor(PURPOSE, known, ticket)
    if (!found) return undefined
    const { token, time: from } = found
    return (await this.#used.consume(ticket, { from, until: from + LIFETIME_MS })) ? token : undefined
  }
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
    async run({ request, reply }) {
      reply.header('cache-control', 'no-store')
      return { ticket: await tickets.issue(request.token), expiresInMs: LIFETIME_MS }
    },
  })
}
