import type { AccessClient } from '../../client/access-client.ts'
import { type OpenedStore, openStore } from '../../compose/open-store.ts'
import { accessOf } from '../../daemon/access.ts'
import { addressIn } from '../../daemon/address-file.ts'
import { type Config, loadConfig } from '../../daemon/config.ts'
import { importTokens } from '../../daemon/import-tokens.ts'
import { tokenIn } from '../../daemon/token.ts'
import type { Actor } from '../../model/access.ts'
import { MainstemError } from '../../model/index.ts'
import { OWNER } from '../../model/owner.ts'
import { clientOf, type ServerFlags, selectedContext } from '../contexts/connect.ts'
import { findServer } from './connect.ts'
import { placeFlags } from './data-directory.ts'

/** The calls that change tokens and grants, to a server or to the store of one that does not run. */
export type AccessCalls = Pick<
  AccessClient,
  'tokens' | 'addToken' | 'removeToken' | 'grants' | 'addGrant' | 'removeGrant'
>

const ACTOR: Actor = { principal: OWNER, client: 'terminal' }

/** Calls the selected server if it runs. Otherwise opens its store for this one piece of work. */
export async function withAccess(
  flags: ServerFlags,
  work: (access: AccessCalls) => Promise<void>,
): Promise<void> {
  const remote = await selectedContext(flags, process.env)
  if (remote) return work(clientOf(remote))
  const server = await findServer(flags)
  if (server) return work(server.client)
  const config = await loadConfig({ flags: placeFlags(flags), environment: process.env, cwd: process.cwd() })
  if (config.durability === 'none') throw notKept()
  const opened = await openUnless(config)
  if ('client' in opened) return work(opened.client)
  await using _store = opened.store
  using _lock = opened.lock
  await work(await callsOn(config, opened.store))
}

/** The store, or the server that has it open and has no unix socket. */
async function openUnless(config: Config): Promise<OpenedStore | { client: AccessCalls }> {
  try {
    return await openStore(config)
  } catch (thrown) {
    const isTaken = thrown instanceof MainstemError && thrown.details?.locked === true
    const server = isTaken ? await addressIn(config.data) : undefined
    if (server === undefined) throw thrown
    return { client: clientOf({ server, token: (await tokenIn(config.data)).token }) }
  }
}

async function callsOn(config: Config, store: OpenedStore['store']): Promise<AccessCalls> {
  const report = (thrown: unknown) => console.error(thrown instanceof Error ? thrown.message : thrown)
  await importTokens(store.access, config, report)
  const { accessControl: access } = accessOf(store, await tokenIn(config.data))
  return {
    tokens: async () =>
      (await access.named()).map(({ name, roles, at, by }) => ({
        name,
        roles,
        by,
        createdAt: Math.floor(at),
      })),
    addToken: (body) => access.addToken(body, ACTOR),
    removeToken: (name) => access.removeToken(name, ACTOR),
    grants: () => access.grants(),
    addGrant: (grant) => access.addGrant(grant, ACTOR),
    removeGrant: (grant) => access.removeGrant(grant, ACTOR),
  }
}

function notKept(): MainstemError {
  return new MainstemError(
    'conflict',
    'a server with durability "none" keeps no tokens in its data directory',
    {
      advice: 'Set another `durability`, or call `POST /v1/tokens` of the server that runs.',
    },
  )
}
