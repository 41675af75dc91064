import { createHash } from 'node:crypto'
import { newToken } from '../../daemon/token.ts'
import { MainstemError } from '../../model/index.ts'
import { OWNER } from '../../model/owner.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import { withAccess } from './access-place.ts'

/** `mainstem token`: manages the tokens of the server. They hold on every node of its store. */
export async function token(action: string, name: string | undefined, flags: ServerFlags): Promise<void> {
  await withAccess(flags, async (access) => {
    if (action === 'list') {
      for (const one of [OWNER, ...(await access.tokens()).map((named) => named.name)]) console.log(one)
      return
    }
    if (name === undefined) throw new MainstemError('invalid_request', `token ${action}: give a name`)
    if (action === 'add') {
      const added = newToken()
      await access.addToken({ name, digest: createHash('sha256').update(added).digest('hex') })
      // Alone on its line, so that a script can take it.
      console.log(added)
      console.error('This is shown once. Only its digest is kept.')
    } else {
      await access.removeToken(name)
      console.log(`removed ${name}`)
    }
  })
}
