import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { addressIn } from '../../daemon/address-file.ts'
import { loadConfig, type Overrides } from '../../daemon/config.ts'
import { MainstemError } from '../../model/index.ts'
import { clientOf, selectedContext } from '../contexts/connect.ts'
import type { Context } from '../contexts/contexts.ts'
import { findServer, localServer } from './connect.ts'

export interface OpenFlags extends Pick<Overrides, 'host' | 'port' | 'data' | 'config'> {
  context?: string
  server?: string
  print?: boolean
}

/** `mainstem open`: signs a browser in to the running server. */
export async function open({ print, context, server, ...flags }: OpenFlags): Promise<void> {
  const isNamed = flags.host !== undefined || flags.port !== undefined
  const remote = isNamed ? undefined : await selectedContext({ ...flags, context, server }, process.env)
  const { baseUrl, ticket } = await (remote ? atContext(remote) : isNamed ? named(flags) : local(flags))
  const link = ticket === undefined ? `${baseUrl}/` : `${baseUrl}/#ticket=${ticket}`
  if (!print && (await openInBrowser(link))) {
    console.log(`Opened ${baseUrl}/ in your browser.`)
    return
  }
  // Alone on its line, so that a script can use it.
  console.log(link)
  if (ticket !== undefined) console.error('This link signs in once. It expires in 30 seconds.')
}

/** Puts the ticket into the fragment. Browsers do not send fragments, so no log or proxy sees it. */
interface SignInLink {
  baseUrl: string
  /** Absent if the server needs no token. */
  ticket: string | undefined
}

/** The page of a server on another machine. A server that needs no login gives no ticket. */
async function atContext(context: Context): Promise<SignInLink> {
  const { server: baseUrl, token } = context
  return { baseUrl, ticket: token === undefined ? undefined : await clientOf(context).ticket() }
}

/** The server of the data directory, started if none runs. */
async function local(flags: OpenFlags): Promise<SignInLink> {
  const { client, info, data } = await localServer(flags)
  const baseUrl = await addressIn(data)
  if (baseUrl === undefined) {
    throw new MainstemError('connection_failed', `the server of ${data} listens on no port`, {
      advice: 'Stop it, and start it with `mainstem serve`.',
    })
  }
  return { baseUrl, ticket: info.authentication ? await client.ticket() : undefined }
}

/**
 * A server at a named address. The ticket comes over the unix socket of the data directory, and only if its server
 * listens at that address: the token, or a link with a ticket, must not reach another program there.
 */
async function named(flags: OpenFlags): Promise<SignInLink> {
  const { host, port, data } = await loadConfig({ flags, environment: process.env, cwd: process.cwd() })
  const baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const server = await findServer(flags)
  const address = server && (await addressIn(data))
  if (!server || address === undefined || portOf(address) !== portOf(baseUrl) || !isThisMachine(host)) {
    const running = address === undefined ? 'none runs' : `it listens at ${address}`
    throw new MainstemError('connection_failed', `no server of ${data} listens at ${baseUrl}: ${running}`, {
      advice: 'Start it with `mainstem serve`, or name the data directory of the server with --data.',
    })
  }
  return { baseUrl, ticket: server.info.authentication ? await server.client.ticket() : undefined }
}

const portOf = (url: string) => new URL(url).port

function isThisMachine(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
  return host === 'localhost' || own.includes(host)
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Whether the desktop opened the link. */
export async function openInBrowser(link: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, link], { stdio: 'ignore' })
  try {
    const [code] = await once(child, 'exit')
    return code === 0
  } catch {
    // The program is not installed.
    return false
  }
}
