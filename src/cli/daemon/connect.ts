import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { MainstemClient } from '../../client/mainstem-client.ts'
import type { ServerInfo } from '../../client/server-types.ts'
import { addressIn } from '../../daemon/address-file.ts'
import { logIn } from '../../daemon/bounded-log.ts'
import { safeSocketIn } from '../../daemon/local-socket.ts'
import { socketFetch } from '../../daemon/node-fetch.ts'
import { tokenIn, tokenPath } from '../../daemon/token.ts'
import { codeOf, MainstemError } from '../../model/outcome/mainstem-error.ts'
import { exists, type LocalFlags, type LocalPlace, localPlace } from './data-directory.ts'
import { startDaemon } from './start.ts'

/** The version of this program. */
export const OUR_VERSION: string = createRequire(import.meta.url)('../../../package.json').version

/** How long a server may take to start: recovery after a crash reads the store. */
const START_MS = 30_000
const POLL_MS = 20

/** A way to call the server of a data directory. */
export interface LocalServer {
  client: MainstemClient
  info: ServerInfo
  data: string
}

type Fetch = ReturnType<typeof socketFetch>

/** No server listens there. The call did not reach one, so it can be retried. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED'])

/** The server of the data directory, if one runs. */
export async function findServer(flags: LocalFlags): Promise<LocalServer | undefined> {
  const place = await localPlace(flags, process.env, process.cwd())
  const socket = await safeSocketIn(place.data)
  // Checked first, because a call would create the data directory and its token.
  if (socket === undefined || !(await exists(socket))) return undefined
  return reach(place, socketFetch(socket))
}

/** The server of the data directory, started in the background if none runs. Refused if it has another version. */
export async function localServer(flags: LocalFlags): Promise<LocalServer> {
  const place = await localPlace(flags, process.env, process.cwd())
  const socket = await safeSocketIn(place.data)
  const fetch = socket === undefined ? undefined : restarting(socketFetch(socket), () => start(place, flags))
  const reached = fetch && (await reach(place, fetch))
  // A server that is still starting is waited for: another one that is started meanwhile finds the lock and exits.
  const server = reached ?? (await start(place, flags))
  if (server.info.version !== OUR_VERSION) throw otherVersion(server.info)
  return server
}

/** Calls a server. If none listens any more, starts one and retries. */
function restarting(fetch: Fetch, restart: () => Promise<unknown>): Fetch {
  return async (url, call) => {
    try {
      return await fetch(url, call)
    } catch (thrown) {
      if (!ABSENT.has(codeOf(thrown))) throw thrown
      await restart()
      return fetch(url, call)
    }
  }
}

async function reach(
  { data, auth }: LocalPlace,
  fetch: Fetch,
  baseUrl?: string,
): Promise<LocalServer | undefined> {
  const token = auth ? (await tokenIn(data)).token : undefined
  const client = new MainstemClient({
    client: 'terminal',
    fetch,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(token !== undefined && { token }),
  })
  try {
    return { client, info: await client.server(), data }
  } catch (thrown) {
    const isAbsent = thrown instanceof MainstemError && ABSENT.has(codeOf(thrown.cause))
    const isStarting = thrown instanceof MainstemError && thrown.details?.status === 503
    if (isAbsent || isStarting) return undefined
    const isRefused = thrown instanceof MainstemError && thrown.code === 'unauthorized'
    throw isRefused ? refusedToken(data, thrown) : thrown
  }
}

/** The file has changed since the server read it, or the server has another file. */
function refusedToken(data: string, cause: MainstemError): MainstemError {
  return new MainstemError(
    'unauthorized',
    `the server that runs does not accept the token in ${tokenPath(data)}`,
    {
      advice:
        'Stop that server and repeat the command; the next one reads the file. ' +
        `If the command line started it, ${logIn(data)} names its process.`,
    },
    { cause },
  )
}

/**
 * If two commands start a server at once, both use the one that has the lock. The other is stopped: still starting, it
 * would open the store as soon as the first has stopped.
 */
async function start(place: LocalPlace, flags: LocalFlags): Promise<LocalServer> {
  const started = await startDaemon(place.data, flags)
  try {
    const server = await answering(place, started.exited)
    if (server.info.pid !== started.pid) started.stop()
    return server
  } catch (thrown) {
    started.stop()
    throw thrown
  }
}

async function answering(place: LocalPlace, exited: Promise<'locked'>): Promise<LocalServer> {
  let isLocked = false
  let failure: unknown
  exited.then(
    () => {
      isLocked = true
    },
    (thrown: unknown) => {
      failure = thrown
    },
  )
  const socket = await safeSocketIn(place.data)
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(POLL_MS)) {
    if (failure !== undefined) throw failure
    const server = socket === undefined ? undefined : await reach(place, socketFetch(socket))
    if (server) return server
    // Only while another process has the store open is the address known to be that of a server of ours.
    const address = isLocked ? await addressIn(place.data) : undefined
    const other = address === undefined ? undefined : await reach(place, globalThis.fetch, address)
    if (other) return other
  }
  throw new MainstemError(
    'timeout',
    `the daemon of ${place.data} did not answer within ${START_MS / 1000} s`,
    {
      advice: `Read ${place.data}/daemon.log.`,
    },
  )
}

function otherVersion(info: ServerInfo): MainstemError {
  return new MainstemError(
    'conflict',
    `the daemon has version ${info.version}, and this is version ${OUR_VERSION}`,
    {
      advice: 'Run `mainstem restart` and repeat the command. Running turns continue.',
    },
  )
}
