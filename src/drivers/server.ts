import type { ServerLaunch } from '../agents/agent.ts'
import type { ChildKeys, Driver } from './driver.ts'
import { type ProcessDriverOptions, processDriver, QUEUE_BYTES } from './process.ts'
import { ServerRun } from './server-run.ts'
import { ServerSecret } from './server-secret.ts'
import { systemTimers } from './timers.ts'

export interface ServerDriverOptions extends ProcessDriverOptions {
  /** How long a server may take until its event stream is open. */
  startMs?: number
  /** How long it may take to answer a call. */
  callMs?: number
}

/** A first start on a busy machine takes ten seconds and more. */
const START_MS = 60_000
const CALL_MS = 60_000

/** Runs programs that are spoken to over HTTP. Beneath, each is a process as any other. */
export function serverDriver(options: ServerDriverOptions = {}): Driver<ServerLaunch> {
  // SIGTERM is how a server is asked to stop; SIGINT is what a person at its terminal would send.
  const processes = processDriver({ ...options, firstSignal: 'SIGTERM' })
  return {
    start(launch, context) {
      const { login } = launch
      const secret = new ServerSecret(login.user)
      // On top of all others: a name or password from elsewhere would lock us out, or let somebody else in.
      const credentials = { [login.userVariable]: login.user, [login.passwordVariable]: secret.password }
      const protect = (keys: ChildKeys) => {
        const { [login.passwordVariable]: _, ...environment } = keys.environment
        context.protect?.({ ...keys, environment, login: secret.forms })
      }
      const program = processes.start(
        { ...launch, kind: 'process' },
        { ...context, env: { ...context.env, ...credentials }, protect },
      )
      return new ServerRun(program, {
        launch,
        secret,
        timers: options.timers ?? systemTimers,
        queueBytes: options.queueBytes ?? QUEUE_BYTES,
        startMs: options.startMs ?? START_MS,
        callMs: options.callMs ?? CALL_MS,
      })
    },
  }
}
