import { execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { FrameQueue } from '../../../src/drivers/process/frame-queue.ts'
import { pipeChannels } from '../../../src/drivers/process/pipe-channels.ts'
import { ProcessRun } from '../../../src/drivers/process/process-run.ts'
import type { Tree } from '../../../src/drivers/process/terminate.ts'
import { systemTimers } from '../../../src/drivers/timers.ts'
import { isAlive, memoryBlobs, QUICK, readAll } from '../fake-run.ts'

const info = (pid: number) => ({ pid, parent: 1, group: pid, session: pid, started: '1' })

function runWith(tree: Tree): { run: ProcessRun; pid: number; cleanedUp: () => number } {
  let cleanedUp = 0
  const child = spawn('sleep', ['600'])
  const queue = new FrameQueue(1024)
  const reading = { queue, values: memoryBlobs().sink, maxLineBytes: undefined }
  const run = new ProcessRun(pipeChannels(child, reading), {
    tree: { look: () => tree.look(), signal: (...all) => tree.signal(...all), tools: () => tree },
    now: () => 0,
    timers: systemTimers,
    graces: { ...QUICK, SIGKILL: 150 },
    queue,
    async cleanUp() {
      cleanedUp++
    },
  })
  return { run, pid: child.pid ?? 0, cleanedUp: () => cleanedUp }
}

describe('a run', () => {
  it('ends on time and reports it when SIGKILL does not end its process', async () => {
    const immortal = {
      look: async () => [info(pid), info(4711)],
      signal: () => undefined,
    }
    const { run, pid, cleanedUp } = runWith(immortal)
    await run.stop()
    expect(await readAll(run)).toEqual([])
    expect(await run.exit).toEqual({
      error: { code: 'unknown', message: `SIGKILL did not end process ${pid}` },
      survivors: [pid, 4711],
    })
    expect(cleanedUp()).toBe(1)
    process.kill(pid, 'SIGKILL')
  })

  it('reports survivors without changing its own exit', async () => {
    const { run, pid } = runWith({ look: async () => [info(4711)], signal: () => undefined })
    process.kill(pid, 'SIGTERM')
    expect(await run.exit).toEqual({ signal: 'SIGTERM', survivors: [4711] })
  })

  it('keeps its exit code when processes cannot be listed afterwards', async () => {
    const look = () => Promise.reject(new Error('EMFILE: too many open files'))
    const { run, pid, cleanedUp } = runWith({ look, signal: () => undefined })
    process.kill(pid, 'SIGTERM')
    expect(await run.exit).toEqual({ signal: 'SIGTERM' })
    expect(cleanedUp()).toBe(1)
  })

  it('ends at least its own child when processes cannot be listed', async () => {
    const look = () => Promise.reject(new Error('EMFILE: too many open files'))
    const { run, pid, cleanedUp } = runWith({ look, signal: () => undefined })
    await run.stop()
    expect(await run.exit).toEqual({
      signal: 'SIGKILL',
      error: { code: 'unknown', message: 'EMFILE: too many open files' },
    })
    expect(isAlive(pid)).toBe(false)
    expect(cleanedUp()).toBe(1)
  })

  it('that cannot start for lack of file descriptors reports it, and the next one starts', async () => {
    const script = fileURLToPath(new URL('../../fake-agents/out-of-files.ts', import.meta.url))
    const limited = `ulimit -n 48 && exec "${process.execPath}" "${script}"`
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', limited])
    const [starved, recovered] = JSON.parse(stdout)
    expect(starved.error.code).toBe('overloaded')
    expect(starved.error.message).toContain('EMFILE')
    expect(recovered).toEqual({ code: 0 })
  })
})
