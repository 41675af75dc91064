import { MainstemClient } from '../../client/mainstem-client.ts'
import type { ServerInfo } from '../../client/server-types.ts'
import type { Environment } from '../../compose/paths.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { nearest } from '../../model/text/nearest.ts'
import { findServer, localServer, OUR_VERSION } from '../daemon/connect.ts'
import type { LocalFlags } from '../daemon/data-directory.ts'
import { type Context, LOCAL_CONTEXT, readContexts } from './contexts.ts'
import { remoteFetch } from './remote-fetch.ts'
import { serverUrl } from './server-url.ts'

/** The options that select the server of a command. */
export interface ServerFlags extends LocalFlags {
  server?: string | undefined
  context?: string | undefined
}

export interface ConnectedServer {
  client: MainstemClient
  info: ServerInfo
  /** Set for a server that was logged in to. Paths that it names are on its machine. */
  remote?: Context
}

/** The server that a command uses: the one it names, that of the current context, or that of this machine. */
export async function connect(flags: ServerFlags): Promise<ConnectedServer> {
  const remote = await selectedContext(flags, process.env)
  if (!remote) return localServer(flags)
  const client = clientOf(remote)
  const info = await client.server()
  checkVersion(remote.server, info.version)
  return { client, info, remote }
}

/** The server of the current context, or that of this machine if one runs. Starts none. */
export async function runningServer(): Promise<MainstemClient | undefined> {
  const remote = await selectedContext({}, process.env)
  return remote ? clientOf(remote) : (await findServer({}))?.client
}

export function clientOf(context: Pick<Context, 'server' | 'token' | 'ca'>): MainstemClient {
  const { server, token } = context
  return new MainstemClient({
    client: 'terminal',
    baseUrl: server,
    fetch: remoteFetch(context),
    ...(token !== undefined && { token }),
  })
}

/** The context that the options, the environment or the last `mainstem context use` select; undefined for this machine. */
export async function selectedContext(
  { server, context, data, config }: ServerFlags,
  environment: Environment,
): Promise<Context | undefined> {
  const isLocal = data !== undefined || config !== undefined
  const isRemote = server !== undefined || context !== undefined
  if ((isLocal && isRemote) || (server !== undefined && context !== undefined)) {
    throw new MainstemError('invalid_request', 'several options select a server', {
      advice: 'Pass one of --server and --context, or --data and --config for the server of this machine.',
    })
  }
  if (isLocal) return undefined
  const { contexts, current } = await readContexts(environment)
  if (server !== undefined) return contextAt(serverUrl(server), contexts, environment)
  const name = context ?? (environment.MAINSTEM_CONTEXT || current)
  return name === undefined || name === LOCAL_CONTEXT ? undefined : contextNamed(name, contexts)
}

export function contextNamed(name: string, contexts: readonly Context[]): Context {
  const found = contexts.find((one) => one.name === name)
  if (found) return found
  const near = nearest(
    name,
    contexts.map((one) => one.name),
  )
  throw new MainstemError('not_found', `there is no context "${name}"`, {
    advice: `${near === undefined ? '' : `Did you mean "${near}"? `}List them with \`mainstem context\`.`,
  })
}

/** The token of a program comes from the environment: it needs no login. A certificate of a login counts for it too. */
export function contextAt(
  server: string,
  contexts: readonly Context[],
  { MAINSTEM_TOKEN }: Environment,
): Context {
  const found = contexts.find((one) => one.server === server)
  if (MAINSTEM_TOKEN)
    return {
      name: server,
      server,
      token: MAINSTEM_TOKEN,
      principal: '',
      ...(found?.ca !== undefined && { ca: found.ca }),
    }
  if (found) return found
  throw new MainstemError('unauthorized', `you are not logged in to ${server}`, {
    advice: `Run \`mainstem login ${server}\`, or set MAINSTEM_TOKEN.`,
  })
}

/** Servers and command lines of one minor version understand each other. */
export function checkVersion(server: string, version: string): void {
  const minor = (text: string) => text.split('.').slice(0, 2).join('.')
  if (minor(version) === minor(OUR_VERSION)) return
  const isNewer = version.localeCompare(OUR_VERSION, 'en', { numeric: true }) > 0
  throw new MainstemError(
    'conflict',
    `${server} has the ${isNewer ? 'newer' : 'older'} version ${version}, and this is version ${OUR_VERSION}`,
    {
      advice: isNewer
        ? `Install the same version: \`npm install -g mainstem@${version}\`.`
        : `Use that version: \`npx mainstem@${version}\`, or ask the operator to upgrade the server.`,
    },
  )
}
