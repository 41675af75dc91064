import { builtinDriver } from './builtin.ts'
import type { Driver } from './driver.ts'
import { type ProcessDriverOptions, processDriver } from './process.ts'
import { systemTimers } from './timers.ts'

/** The one driver: it knows what to do with every kind of launch. */
export function driver(options: ProcessDriverOptions = {}): Driver {
  const processes = processDriver(options)
  const builtins = builtinDriver({ timers: options.timers ?? systemTimers })
  return {
    start(launch, context) {
      switch (launch.kind) {
        case 'process':
          return processes.start(launch, context)
        case 'builtin':
          return builtins.start(launch, context)
      }
    },
  }
}
