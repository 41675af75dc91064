import { builtinDriver } from './builtin.ts'
import type { Driver } from './driver.ts'
import { processDriver } from './process.ts'
import { remoteDriver } from './remote.ts'
import { type ServerDriverOptions, serverDriver } from './server.ts'
import { systemTimers } from './timers.ts'

/** The driver for every kind of launch. */
export function driver(options: ServerDriverOptions = {}): Driver {
  const processes = processDriver(options)
  const servers = serverDriver(options)
  const builtins = builtinDriver({ timers: options.timers ?? systemTimers })
  const remotes = remoteDriver(options)
  return {
    start(launch, context) {
      switch (launch.kind) {
        case 'process':
          return processes.start(launch, context)
        case 'server':
          return servers.start(launch, context)
        case 'builtin':
          return builtins.start(launch, context)
        case 'remote':
          return remotes.start(launch, context)
      }
    },
  }
}
