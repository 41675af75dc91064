import type { Frame } from '../../framing/frame.ts'
import type { Driver, Run } from '../driver.ts'

/** Reads from a run only while `room` grants it; otherwise the child blocks on its full pipe. */
export function paced(driver: Driver, room: () => Promise<void>): Driver {
  const { lasting } = driver
  return {
    start: (launch, context) => pacedRun(driver.start(launch, context), room),
    lasting: lasting && {
      prepare: (runId, frame) => lasting.prepare(runId, frame),
      keys: (runId) => lasting.keys(runId),
      keep: (runId, frame, text) => lasting.keep(runId, frame, text),
      written: (runId) => lasting.written(runId),
      kept: (runId, committed) => lasting.kept(runId, committed),
      frame: (stream, text) => lasting.frame(stream, text),
      left: () => lasting.left(),
      attach: (runId, from, context) => pacedRun(lasting.attach(runId, from, context), room),
      remove: (runId) => lasting.remove(runId),
      terminate: (runId) => lasting.terminate(runId),
    },
  }
}

function pacedRun(run: Run, room: () => Promise<void>): Run {
  return {
    get pid() {
      return run.pid
    },
    exit: run.exit,
    frames: read(run, room),
    write: (write) => run.write(write),
    stop: () => run.stop(),
    ...(run.outputClosed && { outputClosed: run.outputClosed }),
    moment: () => run.moment?.(),
    endTools: async (since) => (await run.endTools?.(since)) ?? [],
    lasting: run.lasting,
  }
}

async function* read({ frames }: Run, room: () => Promise<void>): AsyncGenerator<readonly Frame[]> {
  for await (const batch of frames) {
    yield batch
    await room()
  }
}
