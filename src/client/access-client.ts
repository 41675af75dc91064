import type { Grant } from '../model/access.ts'
import type { Login, NamedToken, NewLogin, NewToken } from './server-types.ts'
import { shaped } from './shaped.ts'
import type { ClientConnection } from './transports/connection.ts'

/** The calls that decide who may use a server: tickets, logins, tokens and grants. */
export class AccessClient {
  readonly #connection: ClientConnection

  constructor(connection: ClientConnection) {
    this.#connection = connection
  }

  /** Creates a single-use ticket, for URLs and other places where a token must not be. */
  async ticket(): Promise<string> {
    return shaped<{ ticket: string }>(await this.#connection.json('POST /v1/tickets'), 'ticket').ticket
  }

  /**
   * Lets a command line act for this principal. `digest` is the SHA-256 of a token that the command line created.
   * Rejected if this client itself uses such a token.
   */
  async addLogin(body: NewLogin): Promise<Login> {
    return shaped<Login>(await this.#connection.json('POST /v1/logins', { body }), 'id')
  }

  /** Lists the command lines that act for this principal. */
  async logins(): Promise<readonly Login[]> {
    return shaped<{ logins: Login[] }>(await this.#connection.json('GET /v1/logins'), 'logins').logins
  }

  /** Removes a login; `current` is the one that this client uses. */
  async removeLogin(id: string): Promise<void> {
    await this.#connection.json(`DELETE /v1/logins/${encodeURIComponent(id)}`)
  }

  /** Lists the tokens that operators added. Only for operators. */
  async tokens(): Promise<readonly NamedToken[]> {
    return shaped<{ tokens: NamedToken[] }>(await this.#connection.json('GET /v1/tokens'), 'tokens').tokens
  }

  /** Adds a token for a new principal. `digest` is the SHA-256 of a token that the caller created. Only for operators. */
  async addToken(body: NewToken): Promise<void> {
    await this.#connection.json('POST /v1/tokens', { body })
  }

  /** Removes the token of a principal and its logins, on every server of the store. Only for operators. */
  async removeToken(name: string): Promise<void> {
    await this.#connection.json(`DELETE /v1/tokens/${encodeURIComponent(name)}`)
  }

  /** Lists the grants to and of this principal; all grants for operators. */
  async grants(): Promise<readonly Grant[]> {
    return shaped<{ grants: Grant[] }>(await this.#connection.json('GET /v1/grants'), 'grants').grants
  }

  /** Lets `to` read the sessions of `of` and answer their requests, and nothing else. Only for operators. */
  async addGrant({ to, of }: Pick<Grant, 'to' | 'of'>): Promise<void> {
    await this.#connection.json('POST /v1/grants', { body: { to, of } })
  }

  /** Removes a grant, and ends the streams that it allowed. For operators and the owner of the sessions. */
  async removeGrant({ to, of }: Pick<Grant, 'to' | 'of'>): Promise<void> {
    await this.#connection.json(`DELETE /v1/grants/${encodeURIComponent(to)}/${encodeURIComponent(of)}`)
  }
}
