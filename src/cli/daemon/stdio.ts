import { addressIn } from '../../daemon/address-file.ts'
import { type Config, loadConfig, type Overrides } from '../../daemon/config.ts'
import { serve } from '../../daemon/serve.ts'
import type { Server } from '../../daemon/server.ts'
import { passCalls } from '../../daemon/stdio.ts'
import { tokenIn } from '../../daemon/token.ts'
import { MainstemError } from '../../model/index.ts'
import { printable } from '../render/printable.ts'
import { STOP_SIGNALS } from '../terminal/interrupts.ts'

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
  if (url !== undefined) return pass(config, url.replace(/\/+$/, ''))
  const server = await ownServer(config)
  // The end of the input ends this process. Without its server it ends too, so that the client starts another.
  if (typeof server === 'string') return pass(config, server, () => process.stdin.destroy())
  for (const signal of STOP_SIGNALS) process.once(signal, () => process.stdin.destroy())
  try {
    await passCalls({ ...STREAMS, url: server.url, token: server.tokenFile?.token })
  } finally {
    await server.stop()
  }
}

async function pass(config: Config, url: string, unreachable?: () => void): Promise<void> {
  const token = config.auth ? (await tokenIn(config.data)).token : undefined
  await passCalls({ ...STREAMS, url, token, ...(unreachable && { unreachable }) })
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
function report(thrown: unknown): void {
  console.error(printable(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)))
}
