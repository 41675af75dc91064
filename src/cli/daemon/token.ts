import { loadConfig } from '../../daemon/config.ts'
import { addToken, removeToken, tokenNames } from '../../daemon/named-tokens.ts'
import { MainstemError } from '../../model/index.ts'

export interface TokenFlags {
  data?: string
  config?: string
}

/** `mainstem token`: manages the tokens of the server. */
export async function token(action: string, name: string | undefined, flags: TokenFlags): Promise<void> {
  const { data } = await loadConfig({ flags, environment: process.env, cwd: process.cwd() })
  if (action === 'list') {
    for (const one of await tokenNames(data)) console.log(one)
    return
  }
  if (name === undefined) throw new MainstemError('invalid_request', `token ${action}: give a name`)
  if (action === 'add') {
    // Alone on its line, so that a script can take it.
    console.log(await addToken(data, name))
    console.error('This is shown once. Only its digest is kept.')
  } else {
    await removeToken(data, name)
    console.log(`removed ${name}`)
  }
}
