import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { text as readAll } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { loginCode } from '../../client/login-code.ts'
import type { ServerInfo } from '../../client/server-types.ts'
import type { ErrorCode } from '../../model/index.ts'
import { MainstemError, toMainstemError } from '../../model/index.ts'
import { openInBrowser } from '../daemon/open.ts'
import { readNamed } from '../named-path.ts'
import { printable } from '../render/printable.ts'
import { interrupts } from '../terminal/interrupts.ts'
import { checkVersion, clientOf } from './connect.ts'
import { type Context, LOCAL_CONTEXT, readContexts, writeContexts } from './contexts.ts'
import { removeLoginOf } from './logout.ts'
import { notOurs, type RemotePlace, remoteFetch } from './remote-fetch.ts'
import { serverUrl } from './server-url.ts'

export interface LoginFlags {
  name?: string
  ca?: string
  tokenStdin?: boolean
}

/** How long a person may take to allow a login, and how often the server is asked whether they did. */
const ALLOW_MS = 10 * 60_000
const POLL_MS = 1_000

/** `mainstem login`: gets a token for a server and makes it the server of the following commands. */
export async function login(url: string, flags: LoginFlags): Promise<void> {
  const server = serverUrl(url)
  const ca = flags.ca === undefined ? undefined : (await readNamed(flags.ca, '--ca')).toString('utf8')
  const place = { server, ...(ca !== undefined && { ca }) }
  const name = flags.name ?? new URL(server).host
  if (name === LOCAL_CONTEXT) {
    throw new MainstemError('invalid_request', `"${LOCAL_CONTEXT}" is the server of this machine`, {
      advice: 'Choose another --name.',
    })
  }
  await checkIsMainstem(place)
  const { token, info } = await (flags.tokenStdin ? withGivenToken(place) : withLink(place))
  checkVersion(server, info.version)
  const { contexts } = await readContexts(process.env)
  const added: Context = {
    ...place,
    name,
    principal: info.principal,
    ...(token !== undefined && { token }),
    ...(!flags.tokenStdin && token !== undefined && { isLogin: true }),
  }
  const others = contexts.filter((one) => one.name !== name)
  await writeContexts(process.env, { current: name, contexts: [...others, added] })
  // After the write: a login that cannot be removed must not cost the one that replaces it.
  for (const replaced of contexts) if (replaced.name === name) await removeReplaced(replaced)
  console.log(printable(`logged in to ${server} as ${info.principal}; commands now use the context ${name}`))
}

/** Removes the login that another one replaces from its server. */
async function removeReplaced(context: Context): Promise<void> {
  try {
    await removeLoginOf(context)
  } catch (thrown) {
    const why = toMainstemError(thrown).message
    console.error(
      printable(`The earlier login is still valid (${why}). Remove it: \`mainstem logins --remove <id>\`.`),
    )
  }
}

/** A token would otherwise be sent to whatever answers. */
async function checkIsMainstem(place: RemotePlace): Promise<void> {
  const response = await remoteFetch(place)(`${place.server}/healthz`, {})
  const body = await response.text()
  if (!/^\{"status":"ok"\}\s*$/.test(body)) throw notOurs(place.server, `status ${response.status}`)
}

interface LoggedIn {
  token: string | undefined
  info: ServerInfo
}

async function withGivenToken(place: RemotePlace): Promise<LoggedIn> {
  const token = (await readAll(process.stdin)).trim()
  if (token === '') {
    throw new MainstemError('invalid_request', 'there is no token on standard input', {
      advice: 'Pipe it in: `mainstem login --token-stdin <url> < token-file`.',
    })
  }
  return { token, info: await clientOf({ ...place, token }).server() }
}

/** The token never leaves this machine before the page has allowed its digest, which the link has. */
async function withLink(place: RemotePlace): Promise<LoggedIn> {
  const open = await infoOf(clientOf(place))
  if (open) return { token: undefined, info: open }
  const token = randomBytes(32).toString('base64url')
  const digest = createHash('sha256').update(token).digest('hex')
  const own = hostname()
    .replaceAll(/[^\w .@-]/g, '-')
    .slice(0, 64)
  const link = `${place.server}/#login=${digest}&name=${encodeURIComponent(own)}`
  console.error(
    [
      `Open this link in a browser that is signed in to ${place.server}, and compare the code:`,
      `  ${link}`,
      `  code ${loginCode(digest)}`,
      'Waiting until you allow it there.',
    ].join('\n\n'),
  )
  void openInBrowser(link)
  const client = clientOf({ ...place, token })
  using interrupted = interrupts()
  for (const end = Date.now() + ALLOW_MS; Date.now() < end; ) {
    const info = await infoOf(client)
    if (info) return { token, info }
    await sleep(POLL_MS, undefined, { signal: interrupted })
  }
  throw new MainstemError('timeout', 'nobody allowed the login within ten minutes', {
    advice: `Run \`mainstem login ${place.server}\` again.`,
  })
}

/** While a person decides, the server may restart. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'connection_failed',
  'overloaded',
  'draining',
])

async function infoOf(client: ReturnType<typeof clientOf>): Promise<ServerInfo | undefined> {
  try {
    return await client.server()
  } catch (thrown) {
    if (thrown instanceof MainstemError && PASSING.has(thrown.code)) return undefined
    throw thrown
  }
}
