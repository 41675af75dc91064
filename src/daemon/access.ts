import { AccessControl } from '../gateway/access/access-control.ts'
import type { GatewayDeps } from '../gateway/deps.ts'
import { LOCAL, tokenOf } from '../gateway/http/auth.ts'
import { Tickets } from '../gateway/http/tickets.ts'
import type { Store } from '../stores/store.ts'
import type { TokenFile } from './token.ts'

/** Who may use a server: whoever has its first token, and the tokens of its store. Without a token, everybody. */
export function accessOf(
  { access: records }: Pick<Store, 'access'>,
  token: TokenFile | undefined,
): Pick<GatewayDeps, 'accessControl' | 'tokens' | 'tickets'> {
  const accessControl = new AccessControl(records, token ? [tokenOf(LOCAL, token.token, ['operator'])] : [])
  return {
    accessControl,
    tokens: token && (() => accessControl.tokens()),
    tickets: new Tickets(records),
  }
}
