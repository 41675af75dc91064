import { addressIn } from '../../daemon/address-file.ts'
import { type Config, loadConfig, type Overrides } from '../../daemon/config.ts'
import { networkFetch } from '../../daemon/node-fetch.ts'
import { serve } from '../../daemon/serve.ts'
import type { Server } from '../../daemon/server.ts'
import { ServerLog } from '../../daemon/server-log.ts'
import { passCalls, type StdioDeps } from '../../daemon/stdio.ts'
import { tokenIn } from '../../daemon/token.ts'
import { MainstemError } from '../../model/index.ts'
import { contextAt } from '../contexts/connect.ts'
import { readContexts } from '../contexts/contexts.ts'
import { serverUrl } from '../contexts/server-url.ts'
import { printableJson } from '../render/printable.ts'
import { STOP_SIGNALS } from '../terminal/interrupts.ts'
import { findServer } from './connect.ts'

export interface StdioFlags extends Pick<Overrides, 'data' | 'cwd' | 'config'> {
  url?: string
}

const STREAMS = { input: process.stdin, output: process.stdout }

/** `mainstem stdio`: the server behind standard input and output, for a program that starts it. */
export async function runStdio({ url, ...flags }: StdioFlags): Promise<void> {
  const config = await loadConfig({
    flags: { ...flags, ...(url === undefined && { host: '127.0.0.1', port: 0 }) },
    environment: process.env,
    cwd: process.cwd(),
  })
  if (url !== undefined) return passTo(await serverAt(config, url))
  const server = await ownServer(config)
  // The end of the input ends this process. Without its server it ends too, so that the client starts another.
  if (typeof server === 'string') return passTo(await ownOf(config, server), () => process.stdin.destroy())
  for (const signal of STOP_SIGNALS) process.once(signal, () => process.stdin.destroy())
  try {
    await passCalls({ ...STREAMS, url: server.url, token: server.tokenFile?.token })
  } finally {
    await server.stop()
  }
}

type PassedServer = Pick<StdioDeps, 'url' | 'token' | 'fetch'>

const passTo = (place: PassedServer, unreachable?: () => void) =>
  passCalls({ ...STREAMS, ...place, ...(unreachable && { unreachable }) })

/** The server of this data directory. */
async function ownOf({ auth, data }: Config, url: string): Promise<PassedServer> {
  return { url, token: auth ? (await tokenIn(data)).token : undefined }
}

/**
 * The server at a URL, with the token of the login to it or of the environment. The first token of the data directory
 * is only for the server that has this directory open, so that no other program gets it.
 */
async function serverAt(config: Config, text: string): Promise<PassedServer> {
  const url = serverUrl(text)
  const { data } = config
  const own = (await findServer({ data })) && (await addressIn(data))
  if (own === url) return ownOf(config, url)
  const context = contextAt(url, (await readContexts(process.env)).contexts, process.env)
  return { url, token: context.token, fetch: networkFetch(context.ca) }
}

/** A new server, or the address of the one that has the data directory open. */
async function ownServer(config: Config): Promise<Server | string> {
  try {
    return await serve({ config, report })
  } catch (thrown) {
    const isTaken = thrown instanceof MainstemError && thrown.code === 'storage_failed'
    const address = isTaken ? await addressIn(config.data) : undefined
    if (address === undefined) throw thrown
    return address
  }
}

/** Standard output is for the client alone. */
const { report } = new ServerLog((line) => console.error(printableJson(line)))
