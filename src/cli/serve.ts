import { type Command, InvalidArgumentError } from 'commander'
import { loadConfig, type Overrides } from '../daemon/config.ts'
import { type Server, serve } from '../daemon/serve.ts'
import { STOP_SIGNALS } from './interrupts.ts'
import { printable } from './printable.ts'

/** `mainstem serve`: the gateway in the foreground, until a signal ends it. */
export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve agents over HTTP')
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'port to listen on; 0 takes a free one (default: 7380)', parsePort)
    .option('--data <dir>', 'where the token and the logs are kept')
    .option('--cwd <dir>', 'where agents work (default: here)')
    .option('--config <file>', 'configuration file')
    .option('--no-auth', 'ask nobody for a token; on loopback only')
    .action(run)
}

interface Flags extends Omit<Overrides, 'auth'> {
  auth: boolean
}

async function run({ auth, ...flags }: Flags): Promise<void> {
  const config = await loadConfig({
    // Absent unless it was switched off, so that the file can say it too.
    flags: { ...flags, ...(!auth && { auth }) },
    environment: process.env,
    cwd: process.cwd(),
  })
  const server = await serve({ config, report })
  const stopped = untilSignal(server)
  if (!server.tokenFile)
    console.error('warning: nobody is asked for a token; every local user can run agents')
  console.log(`listening on ${server.url}`)
  if (server.tokenFile) console.log(`token in ${server.tokenFile.path}`)
  console.log('page: run `mainstem open` to sign in with a browser')
  await stopped
  // Without this, a process that nothing could end would keep ours running by its open pipes.
  process.exit()
}

/** Errors may quote what an agent said. */
function report(thrown: unknown): void {
  console.error(printable(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)))
}

/** The first signal lets running turns end, the second stops them, the third ends the process. */
function untilSignal(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    let signals = 0
    const stop = () => {
      signals++
      if (signals > 2) process.exit(1)
      server.stop().then(resolve, reject)
    }
    for (const signal of STOP_SIGNALS) process.on(signal, stop)
  })
}

export function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return port
}
