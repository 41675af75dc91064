import type { Frame } from '../../framing/frame.ts'
import type { Driver, Run } from '../driver.ts'

/** Reads from a run only while `room` grants it; otherwise the child blocks on its full pipe. */
export function paced(driver: Driver, room: () => Promise<void>): Driver {
  return {
    start(launch, context) {
      const run = driver.start(launch, context)
      return {
        pid: run.pid,
        exit: run.exit,
        frames: read(run, room),
        write: (write) => run.write(write),
        stop: () => run.stop(),
        ...(run.outputClosed && { outputClosed: run.outputClosed }),
        moment: () => run.moment?.(),
        endTools: async (since) => (await run.endTools?.(since)) ?? [],
      }
    },
  }
}

async function* read({ frames }: Run, room: () => Promise<void>): AsyncGenerator<readonly Frame[]> {
  for await (const batch of frames) {
    yield batch
    await room()
  }
}
