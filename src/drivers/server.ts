import type { ServerLaunch } from '../agents/agent.ts'
import { FRAME_BYTES } from '../model/text/large-value.ts'
import type { ChildKeys, Driver } from './driver.ts'
import { type ProcessDriverOptions, processDriver, QUEUE_BYTES } from './process.ts'
import { ServerRun } from './server/server-run.ts'
import { ServerSecret } from './server/server-secret.ts'
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

/** Runs programs that are controlled over HTTP, on top of the process driver. */
export function serverDriver(options: ServerDriverOptions = {}): Driver<ServerLaunch> {
  // Servers expect SIGTERM; SIGINT is for interactive use.
  const processes = processDriver({ ...options, firstSignal: 'SIGTERM' })
  return {
    start(launch, context) {
      const { login } = launch
      const secret = new ServerSecret(login.user)
      // Set last: a name or password from another source would lock this process out or grant access to others.
      const passwords = login.passwordVariables.map((name) => [name, secret.password])
      const credentials = { [login.userVariable]: login.user, ...Object.fromEntries(passwords) }
      const protect = (keys: ChildKeys) => {
        const others = Object.entries(keys.environment).filter(
          ([name]) => !login.passwordVariables.includes(name),
        )
        context.protect?.({ ...keys, environment: Object.fromEntries(others), login: secret.forms })
      }
      const program = processes.start(
        { ...launch, kind: 'process' },
        { ...context, env: { ...context.env, ...credentials }, protect },
      )
      return new ServerRun(program, {
        launch,
        secret,
        values: context.values,
        maxEventBytes: options.maxLineBytes ?? FRAME_BYTES,
        timers: options.timers ?? systemTimers,
        queueBytes: options.queueBytes ?? QUEUE_BYTES,
        startMs: options.startMs ?? START_MS,
        callMs: options.callMs ?? CALL_MS,
      })
    },
  }
}
