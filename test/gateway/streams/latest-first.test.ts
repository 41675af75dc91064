import { expect, test } from 'vitest'
import { latestFirst } from '../../../src/gateway/streams/latest-first.ts'
import type { Entry } from '../../../src/model/index.ts'
import { contentSize } from '../../../src/model/text/content-size.ts'
import { finished } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway } from '../start.ts'

const LARGE = 400_000

test.each([
  ['many small entries', { texts: 1_000, size: 10 }],
  ['few large entries', { texts: 40, size: LARGE }],
])('%s are read backwards, a few at a time', async (_, flood) => {
  await using server = await startGateway()
  const id = await finished(server, script({ flood }, success))
  const record = await server.sessions.record(id)
  if (!record) throw new Error('the session has no record')
  let [held, heldBytes] = [0, 0]
  let [most, mostBytes] = [0, 0]
  async function* counted(pages: AsyncGenerator<readonly Entry[]>): AsyncGenerator<readonly Entry[]> {
    ;[held, heldBytes] = [0, 0]
    for await (const entries of pages) {
      held += entries.length
      heldBytes += contentSize(entries)
      ;[most, mostBytes] = [Math.max(most, held), Math.max(mostBytes, heldBytes)]
      yield entries
    }
  }
  const sessions = {
    replay: (...args: Parameters<typeof server.sessions.replay>) => counted(server.sessions.replay(...args)),
  }
  const seqs: number[] = []
  for await (const { seq } of latestFirst(sessions, record)) seqs.push(seq)
  expect(seqs).toEqual(Array.from({ length: record.head }, (_, index) => record.head - index))
  expect(most).toBeLessThanOrEqual(256)
  // The window ends with the entry that does not fit.
  expect(mostBytes).toBeLessThan(1024 * 1024 + 2 * LARGE)
})
