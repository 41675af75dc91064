import type { MainstemError } from '../model/index.ts'
import type { Run, RunExit } from './driver.ts'
import { FrameQueue } from './frame-queue.ts'

/** A run that never began: it says nothing and ends with its error. */
export function failedRun({ code, message, advice }: MainstemError, cleanUp?: () => Promise<void>): Run {
  const frames = new FrameQueue(0)
  frames.close()
  const conclude = async (): Promise<RunExit> => {
    await cleanUp?.()
    return { error: { code, message, ...(advice !== undefined && { advice }) } }
  }
  const exit = conclude()
  const over = async () => {
    await exit
  }
  return { pid: Promise.resolve(undefined), frames, exit, write: over, stop: over }
}
