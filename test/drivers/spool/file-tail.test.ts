import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FrameQueue } from '../../../src/drivers/process/frame-queue.ts'
import { FileTail } from '../../../src/drivers/spool/file-tail.ts'
import { SpoolFolder } from '../../../src/drivers/spool/spool-folder.ts'
import { memoryBlobs } from '../fake-run.ts'

const LINE = `${'x'.repeat(99)}\n`
const LINES = 200_000
const QUEUE_BYTES = 64 * 1024
/** One read beyond the limit of the queue. */
const MOST_BYTES = QUEUE_BYTES + 256 * 1024

function tailOf(text: string) {
  const folder = SpoolFolder.of(mkdtempSync(join(tmpdir(), 'tail-')), 'a.1')
  folder.create('/nowhere', 1)
  appendFileSync(folder.file('out'), text)
  const queue = new FrameQueue(QUEUE_BYTES)
  const failures: unknown[] = []
  const fail = (_: string, thrown: unknown) => failures.push(thrown)
  const setup = { queue, values: memoryBlobs().sink, maxLineBytes: undefined, fail }
  return { queue, failures, tail: new FileTail('stdout', folder, 0, setup) }
}

it('a file that became large while nobody read it is read no faster than it is consumed', async () => {
  const { queue, tail } = tailOf(LINE.repeat(LINES))
  tail.last()
  const finished = tail.finish()
  await setImmediate()
  expect(tail.bytesRead).toBeLessThanOrEqual(MOST_BYTES)
  void finished.then(() => queue.close())
  let consumed = 0
  let most = 0
  for await (const batch of queue) {
    consumed += batch.length
    most = Math.max(most, tail.bytesRead - consumed * LINE.length)
  }
  expect(consumed).toBe(LINES)
  expect(most).toBeLessThanOrEqual(MOST_BYTES)
})

it('the end of a file is not waited for if nobody consumes it and it is left', async () => {
  const { tail, failures } = tailOf(LINE.repeat(LINES))
  const finished = tail.finish()
  tail.leave()
  await finished
  expect(failures).toEqual([])
})
