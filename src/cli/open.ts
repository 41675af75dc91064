import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import { MainstemClient } from '../client/index.ts'
import { addressIn } from '../daemon/address-file.ts'
import { loadConfig, type Overrides } from '../daemon/config.ts'
import { tokenIn } from '../daemon/token.ts'
import { type ErrorCode, MainstemError, toMainstemError } from '../model/index.ts'
import { localServer } from './daemon/connect.ts'
import { parsePort } from './serve.ts'

interface OpenFlags extends Pick<Overrides, 'host' | 'port' | 'data' | 'config'> {
  print?: boolean
}

/** `mainstem open`: signs a browser in to the running server. */
export function registerOpen(program: Command): void {
  program
    .command('open')
    .description('open the page in a browser')
    .option('--host <host>', 'address of another server')
    .option('--port <port>', 'port of another server', parsePort)
    .option('--data <dir>', 'data directory of the server')
    .option('--config <file>', 'configuration file of the server')
    .option('--print', 'print the link instead of opening it')
    .action(open)
}

async function open({ print, ...flags }: OpenFlags): Promise<void> {
  const { baseUrl, ticket } = await (flags.host === undefined && flags.port === undefined
    ? local(flags)
    : remote(flags))
  const link = ticket === undefined ? `${baseUrl}/` : `${baseUrl}/#ticket=${ticket}`
  if (!print && (await opened(link))) {
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

async function remote(flags: OpenFlags): Promise<SignInLink> {
  const { host, port, data, auth } = await loadConfig({ flags, environment: process.env, cwd: process.cwd() })
  const baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return { baseUrl, ticket: auth ? await ticketOf(baseUrl, (await tokenIn(data)).token) : undefined }
}

const SITUATIONS: Partial<Record<ErrorCode, readonly [what: string, advice: string]>> = {
  connection_failed: [
    'no server answers at',
    'Start the server with `mainstem serve`, or name its address with --host and --port.',
  ],
  unauthorized: [
    'this token is not valid at',
    'Name the data directory of that server with --data; its file `token` is sent.',
  ],
}

async function ticketOf(baseUrl: string, token: string): Promise<string> {
  try {
    return await new MainstemClient({ baseUrl, token }).ticket()
  } catch (thrown) {
    const { code } = toMainstemError(thrown)
    const situation = SITUATIONS[code]
    if (!situation) throw thrown
    const [what, advice] = situation
    throw new MainstemError(code, `${what} ${baseUrl}`, { advice }, { cause: thrown })
  }
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Whether the desktop opened the link. */
async function opened(link: string): Promise<boolean> {
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
