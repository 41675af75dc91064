import type { ServerLaunch } from '../agents/agent.ts'
import { FRAME_BYTES } from '../model/text/large-value.ts'
import type { ChildKeys, Driver, LastingRuns } from './driver.ts'
import { type ProcessDriverOptions, processDriver, QUEUE_BYTES } from './process.ts'
import { LastingServers, withLogin } from './server/lasting-servers.ts'
import { ServerRun } from './server/server-run.ts'
import { ServerSecret } from './server/server-secret.ts'
import { SpoolDriver, type SpoolDriverOptions } from './spool.ts'
import { systemTimers } from './timers.ts'

export interface ServerDriverOptions extends ProcessDriverOptions {
  /** How long a server may take until its event stream is open. */
  startMs?: number
  /** How long the server may take to respond to a call. */
  callMs?: number
}

/** The first start on a busy machine takes ten seconds or more. */
const START_MS = 60_000
const CALL_MS = 60_000

/** Servers expect SIGTERM; SIGINT is for interactive use. */
const FIRST_SIGNAL = 'SIGTERM'

type LastingOptions = Pick<SpoolDriverOptions, 'spool'> & { programs: SpoolDriver }

/** Runs programs that are controlled over HTTP, on top of the process driver, or as runs that outlive this process. */
export function serverDriver(
  options: ServerDriverOptions & Partial<SpoolDriverOptions> = {},
  lastingOf?: LastingOptions,
): Driver<ServerLaunch> & { readonly lasting: LastingRuns | undefined } {
  const given = { ...options, firstSignal: FIRST_SIGNAL } as const
  const processes = processDriver(given)
  const run: ConstructorParameters<typeof LastingServers>[3] = (program, launch, secret, values, lasting) =>
    new ServerRun(program, {
      launch,
      secret,
      values,
      ...(lasting && { lasting }),
      maxEventBytes: options.maxLineBytes ?? FRAME_BYTES,
      timers: options.timers ?? systemTimers,
      queueBytes: options.queueBytes ?? QUEUE_BYTES,
      startMs: options.startMs ?? START_MS,
      callMs: options.callMs ?? CALL_MS,
    })
  const lasting =
    lastingOf &&
    new LastingServers(
      lastingOf.programs,
      new SpoolDriver({ ...given, spool: lastingOf.spool }),
      lastingOf.spool,
      run,
    )
  return {
    lasting,
    start(launch, context) {
      const { login } = launch
      const secret = new ServerSecret(login.user)
      // Set last: a name or password from another source would lock this process out or grant access to others.
      const passwords = login.passwordVariables.map((name) => [name, secret.password])
      const credentials = { [login.userVariable]: login.user, ...Object.fromEntries(passwords) }
      const protect = (keys: ChildKeys) => context.protect?.(withLogin(keys, secret, login))
      const protectedContext = { ...context, env: { ...context.env, ...credentials }, protect }
      if (lasting && context.lasting) return lasting.start(launch, protectedContext, secret)
      const program = processes.start({ ...launch, kind: 'process' }, protectedContext)
      return run(program, launch, secret, context.values)
    },
  }
}
