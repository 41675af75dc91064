import { BoundedLog, logIn } from '../../daemon/bounded-log.ts'
import { type Config, loadConfig, type Overrides } from '../../daemon/config.ts'
import { EXIT_LOCKED, EXIT_RESTART } from '../../daemon/exit-codes.ts'
import { lacksNames } from '../../daemon/exposure.ts'
import { socketIn } from '../../daemon/local-socket.ts'
import { serve } from '../../daemon/serve.ts'
import type { Server } from '../../daemon/server.ts'
import { ServerLog } from '../../daemon/server-log.ts'
import { MainstemError } from '../../model/index.ts'
import { MAINSTEM } from '../own-command.ts'
import { printableJson } from '../render/printable.ts'
import { STOP_SIGNALS } from '../terminal/interrupts.ts'
import { returnIdleMemory } from './idle-memory.ts'
import { startDaemon } from './start.ts'

const NO_NAMES =
  'other machines can connect, but only the names localhost, 127.0.0.1 and [::1] are accepted; ' +
  'add the names by which clients call this server to `hosts` in the configuration'

export interface ServeFlags extends Omit<Overrides, 'auth'> {
  auth: boolean
  background?: boolean
}

/** `mainstem serve`: the gateway in the foreground, until a signal ends it, or in the background. */
export function runServer(flags: ServeFlags): Promise<void> {
  returnIdleMemory()
  return flags.background ? runInBackground(flags) : run(flags)
}

async function run({ auth, background: _, ...flags }: ServeFlags): Promise<void> {
  // The arguments of a process are public, and this URL may have a password.
  if (flags.store !== undefined) process.title = 'mainstem serve'
  const config = await loadConfig({
    // Absent unless disabled, so that the configuration file applies.
    flags: { ...flags, ...(!auth && { auth }) },
    environment: process.env,
    cwd: process.cwd(),
  })
  const log = new ServerLog((line) => console.error(printableJson(line)))
  const { report, access } = log
  const server = await serve({ config, report, access, socket: socketOf(config) })
  const stopped = untilSignal(server)
  if (!server.tokenFile) log.warn('authentication is disabled; every local user can run agents')
  if (lacksNames(config)) log.warn(NO_NAMES)
  console.log(`listening on ${server.url}`)
  if (server.tokenFile) console.log(`token in ${server.tokenFile.path}`)
  console.log(`page: run \`${MAINSTEM} open\` to sign in with a browser`)
  const end = await stopped
  // A child that survived SIGKILL would otherwise keep this process alive by its open pipes.
  process.exit(end === 'left' ? EXIT_RESTART : 0)
}

/** The daemon of the command line: on loopback, for every directory, until it has been idle for a while. */
async function runInBackground({ data, config: file }: ServeFlags): Promise<void> {
  const config = await loadConfig({
    flags: {
      ...(data !== undefined && { data }),
      ...(file !== undefined && { config: file }),
      host: '127.0.0.1',
      port: 0,
    },
    environment: process.env,
    // Without `cwd` and `roots` in the configuration, sessions may use every directory of the user.
    cwd: '/',
  })
  const bounded = new BoundedLog(logIn(config.data))
  const log = new ServerLog((line) => bounded.append(printableJson(line)))
  const { report, access } = log
  try {
    const server = await serve({
      config,
      report,
      access,
      socket: socketIn(config.data),
    })
    log.info(`listening on ${server.url}, process ${process.pid}`)
    const stopped = untilSignal(server)
    const idle = server.idle(config.timeouts.idleExitMs).then(() => server.stop())
    const end = await Promise.race([stopped, idle])
    log.info(end === 'left' ? 'restarting' : 'stopped')
    if (end === 'left') await startDaemon(config.data, { data, config: file })
    process.exit()
  } catch (thrown) {
    if (!(thrown instanceof MainstemError) || thrown.details?.locked !== true) throw thrown
    process.exit(EXIT_LOCKED)
  }
}

function socketOf({ data, durability }: Config): string | undefined {
  return durability === 'none' ? undefined : socketIn(data)
}

/**
 * The first signal lets running turns end, the second stops them, the third ends the process. SIGHUP, which a closed
 * terminal sends too, leaves the agents to the next server.
 */
function untilSignal(server: Server): Promise<'stopped' | 'left'> {
  return new Promise((resolve, reject) => {
    let signals = 0
    const stop = () => {
      signals++
      if (signals > 2) process.exit(1)
      server.stop().then(() => resolve('stopped'), reject)
    }
    const leave = () => server.leave().then(() => resolve('left'), reject)
    for (const signal of STOP_SIGNALS) process.on(signal, signal === 'SIGHUP' ? leave : stop)
  })
}
