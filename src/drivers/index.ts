import { builtinDriver } from './builtin.ts'
import type { Driver } from './driver.ts'
import { processDriver } from './process.ts'
import { remoteDriver } from './remote.ts'
import { type ServerDriverOptions, serverDriver } from './server.ts'
import { SpoolDriver, type SpoolDriverOptions } from './spool.ts'
import { systemTimers } from './timers.ts'

/** The driver for every kind of launch. With a `spool` directory, processes can outlive this one. */
export function driver(options: ServerDriverOptions & Partial<SpoolDriverOptions> = {}): Driver {
  const { spool } = options
  const spooled = spool === undefined ? undefined : new SpoolDriver({ ...options, spool })
  const processes = processDriver(options)
  const servers =
    spool === undefined || !spooled
      ? serverDriver(options)
      : serverDriver(options, { spool, programs: spooled })
  const builtins = builtinDriver({ timers: options.timers ?? systemTimers })
  const remotes = remoteDriver(options)
  return {
    lasting: servers.lasting,
    start(launch, context) {
      switch (launch.kind) {
        case 'process':
          if (context.lasting && spooled) return spooled.start(launch, context)
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
