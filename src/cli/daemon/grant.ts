import { MainstemError } from '../../model/index.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import { printable, printableJson } from '../render/printable.ts'
import { withAccess } from './access-place.ts'

export interface GrantFlags extends ServerFlags {
  json?: boolean
}

/** `mainstem grant`: lets a principal read the sessions of others and answer their requests. */
export async function grant(
  action: string,
  to: string | undefined,
  owners: readonly string[],
  { json = false, ...flags }: GrantFlags,
): Promise<void> {
  await withAccess(flags, async (access) => {
    if (action === 'list') {
      const grants = (await access.grants()).filter((one) => to === undefined || one.to === to)
      if (json) console.log(printableJson(grants))
      else for (const one of grants) console.log(printable(`${one.to} ${one.of}`))
      return
    }
    if (to === undefined || owners.length === 0) {
      throw new MainstemError('invalid_request', `grant ${action}: give two names`, {
        advice: `\`mainstem grant ${action} slack-bot ann\`: slack-bot may read and answer the sessions of ann.`,
      })
    }
    for (const of of owners) {
      await (action === 'add' ? access.addGrant({ to, of }) : access.removeGrant({ to, of }))
      const may = action === 'add' ? 'may now' : 'may no longer'
      console.log(`${to} ${may} read the sessions of ${of} and answer their requests`)
    }
  })
}
