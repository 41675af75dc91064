import type { Command } from 'commander'
import { loadConfig, type Overrides } from '../daemon/config.ts'
import { serve } from '../daemon/serve.ts'
import { passCalls } from '../daemon/stdio.ts'
import { tokenIn } from '../daemon/token.ts'
import { STOP_SIGNALS } from './interrupts.ts'
import { printable } from './printable.ts'

/** `mainstem stdio`: the server behind standard input and output, for a program that starts it. */
export function registerStdio(program: Command): void {
  program
    .command('stdio')
    .description('serve one program over standard input and output')
    .option('--url <url>', 'pass the calls to a server that runs, instead of running one')
    .option('--data <dir>', 'where the token and the logs are kept')
    .option('--cwd <dir>', 'where agents work (default: here)')
    .option('--config <file>', 'configuration file')
    .action(run)
}

interface Flags extends Pick<Overrides, 'data' | 'cwd' | 'config'> {
  url?: string
}

async function run({ url, ...flags }: Flags): Promise<void> {
  const config = await loadConfig({
    flags: { ...flags, ...(url === undefined && { host: '127.0.0.1', port: 0 }) },
    environment: process.env,
    cwd: process.cwd(),
  })
  const streams = { input: process.stdin, output: process.stdout }
  if (url !== undefined) {
    const token = config.auth ? (await tokenIn(config.data)).token : undefined
    return passCalls({ ...streams, url: url.replace(/\/+$/, ''), token })
  }
  const server = await serve({ config, report })
  // Whoever started it ends it by ending its input; a signal does the same.
  for (const signal of STOP_SIGNALS) process.once(signal, () => process.stdin.destroy())
  try {
    await passCalls({ ...streams, url: server.url, token: server.tokenFile?.token })
  } finally {
    await server.stop()
  }
}

/** Standard output is for the client alone. */
function report(thrown: unknown): void {
  console.error(printable(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)))
}
