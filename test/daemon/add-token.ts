import { MainstemClient } from '../../src/client/index.ts'
import type { Server } from '../../src/daemon/server.ts'
import { newToken } from '../../src/daemon/token.ts'
import { tokenOf } from '../../src/gateway/http/auth.ts'

/** The client of the operator of a server. */
export const operatorOf = ({ url, tokenFile }: Pick<Server, 'url' | 'tokenFile'>) =>
  new MainstemClient({ baseUrl: url, token: tokenFile?.token ?? '' })

/** Adds a token for a principal, as `mainstem token add` does. */
export async function addToken(operator: MainstemClient, name: string): Promise<string> {
  const token = newToken()
  await operator.addToken({ name, digest: tokenOf(name, token).digest })
  return token
}
