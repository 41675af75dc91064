import type { Launch, Write } from '../../src/agents/agent.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'
import type { Driver, LastingRuns, Run, RunContext } from '../../src/drivers/driver.ts'
import { driver } from '../../src/drivers/index.ts'
import { systemTimers } from '../../src/drivers/timers.ts'
import type { Store } from '../../src/stores/store.ts'
import { die, failpoints, type Point } from './plan.ts'

/** `mainstem serve` from the same parts. Kills itself at the place of its plan. */
const isDue = failpoints()
const pass = (point: Point) => {
  if (isDue(point)) die()
}

/** The point that an append passes. Writes before the server listens belong to the recovery. */
let appending: Point = 'during-recovery'

const config = await loadConfig({ flags: {}, environment: process.env, cwd: process.cwd() })
const server = await serve({ config, report: console.error, between: { store: watched, driver: driven } })
appending = 'before-append'
process.on('SIGTERM', () => void stop(server))
process.stdout.write(`${server.url}\n`)

async function stop(server: Server): Promise<void> {
  appending = 'during-drain'
  await server.stop()
}

function watched(store: Store): Store {
  const append: Store['append'] = async (...batch) => {
    pass(appending)
    await store.append(...batch)
    pass('after-ack-before-show')
  }
  const create: Store['create'] = async (...batch) => {
    pass(appending)
    const receipt = await store.create(...batch)
    pass('after-ack-before-show')
    return receipt
  }
  return new Proxy(store, {
    get(target, name) {
      if (name === 'append') return append
      if (name === 'create') return create
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Scripted agents play ten times as fast, so that more of their work falls between two crashes. */
function driven(inner: Driver): Driver {
  const { lasting } = inner
  const fast = driver({ timers: { sleep: (ms, signal) => systemTimers.sleep(ms / 10, signal) } })
  return {
    start(launch: Launch, context: RunContext): Run {
      const run = (launch.kind === 'builtin' ? fast : inner).start(launch, context)
      if (launch.kind === 'process') pass('after-spawn-before-record')
      return watchedRun(run)
    },
    lasting: lasting && attached(lasting),
  }
}

function attached(lasting: LastingRuns): LastingRuns {
  return new Proxy(lasting, {
    get(target, name) {
      if (name === 'attach')
        return (...args: Parameters<LastingRuns['attach']>) => watchedRun(target.attach(...args))
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function watchedRun(run: Run): Run {
  const { frames, exit, lasting } = run
  const write = (write: Write) => answered(run, write)
  return {
    get pid() {
      return run.pid
    },
    ...{ frames, exit, write, lasting },
    stop: () => run.stop(),
  }
}

function answered(run: Run, write: Write): Promise<void> {
  if (write.kind === 'text' && write.text.includes('"control_response"')) pass('before-answer-written')
  return run.write(write)
}
