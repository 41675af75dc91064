import type { MainstemError } from '../../model/index.ts'
import type { Run, RunExit } from '../driver.ts'
import { FrameQueue } from './frame-queue.ts'

/** A run that could not start: it has no frames and exits with the error. */
export function failedRun(
  failure: MainstemError | Promise<MainstemError>,
  cleanUp?: () => Promise<void>,
): Run {
  const frames = new FrameQueue(0)
  frames.close()
  const conclude = async (): Promise<RunExit> => {
    const { code, message, advice } = await failure
    await cleanUp?.()
    return { error: { code, message, ...(advice !== undefined && { advice }) } }
  }
  const exit = conclude()
  const over = async () => {
    await exit
  }
  return { pid: undefined, frames, exit, write: over, stop: over }
}
