import type { RemoteLaunch } from '../agents/agent.ts'
import { MainstemError, toMainstemError } from '../model/index.ts'
import { FRAME_BYTES } from '../model/text/large-value.ts'
import type { Driver, Timers } from './driver.ts'
import { failedRun } from './process/failed-run.ts'
import { RemoteRun } from './remote/remote-run.ts'
import { RemoteServer } from './remote/remote-server.ts'
import { systemTimers } from './timers.ts'

export interface RemoteDriverOptions {
  timers?: Timers
  /** Source of the address and the token, unless the configuration of the agent has them. */
  environment?: RemoteVariables
  /** Events longer than this are stored as a blob. */
  maxLineBytes?: number
  /** Bytes buffered for a slow consumer. */
  queueBytes?: number
}

type RemoteVariables = Readonly<Record<string, string | undefined>>

const QUEUE_BYTES = 1024 * 1024

/** Runs sessions on remote servers, without a local process. */
export function remoteDriver(options: RemoteDriverOptions = {}): Driver<RemoteLaunch> {
  const timers = options.timers ?? systemTimers
  return {
    start(launch, { env, values }) {
      try {
        const variables = { ...(options.environment ?? process.env), ...env }
        const { url, token } = launch.variables
        return new RemoteRun({
          launch,
          server: new RemoteServer(baseOf(url, variables), tokenOf(token, variables), timers),
          fields: fieldsOf(launch, variables),
          timers,
          values,
          queueBytes: options.queueBytes ?? QUEUE_BYTES,
          maxEventBytes: options.maxLineBytes ?? FRAME_BYTES,
        })
      } catch (thrown) {
        return failedRun(toMainstemError(thrown))
      }
    },
  }
}

/** The address without a trailing slash. Errors omit the address, because it may contain a password. */
function baseOf(name: string, variables: RemoteVariables): string {
  const given = variables[name]
  if (!given) throw notReady(`set ${name} to the address of the server`)
  const url = URL.parse(given)
  if (!url || !/^(https?|wss?):$/.test(url.protocol)) throw notReady(`${name} is not an http address`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw notReady(`${name} has more than host, port and path; pass the token in its own variable`)
  return `${url.protocol.replace('ws', 'http')}//${url.host}${url.pathname.replace(/\/+$/, '')}`
}

/** Validated here, because the HTTP client would repeat a bad header value in its error message. */
function tokenOf(name: string, variables: RemoteVariables): string | undefined {
  const token = variables[name]
  if (!token) return undefined
  if (!/^[\x21-\x7e]+$/.test(token))
    throw notReady(`${name} contains characters that are not allowed in an HTTP header`)
  return token
}

function fieldsOf({ opening }: RemoteLaunch, variables: RemoteVariables): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [field, name] of Object.entries(opening.fields)) {
    const value = variables[name]
    if (value) fields[field] = value
  }
  return fields
}

function notReady(message: string): MainstemError {
  return new MainstemError('agent_not_ready', message)
}
