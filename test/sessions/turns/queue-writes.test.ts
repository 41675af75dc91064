import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { house, init, result, said } from '../house.ts'

const PROMPTS = 40
const CHARS = 10_000

/** Counts the bytes that a store is given to write. */
function counted(store: Store): { store: Store; bytes(): number } {
  let bytes = 0
  const append = store.append.bind(store)
  store.append = (session, batch, fence) => {
    bytes += Buffer.byteLength(JSON.stringify(batch))
    return append(session, batch, fence)
  }
  return { store, bytes: () => bytes }
}

test('a queued prompt is written as an event, as a row, as the start of its turn, and twice in the journal', async () => {
  const { store, bytes } = counted(memoryStore())
  const { open, driver } = house(store)
  const session = await open()
  await session.prompt('first')
  const run = await driver.run()
  run.say(init, said('working'))
  const before = bytes()
  const image = { mimeType: 'image/png', data: 'A'.repeat(CHARS) }
  for (let n = 0; n < PROMPTS; n++) await session.prompt('x'.repeat(CHARS), [image])
  const accepted = PROMPTS * 2 * CHARS
  expect(bytes() - before).toBeLessThan(2 * accepted)
  run.say(result('done'))
  for (let turn = 2; turn <= PROMPTS + 1; turn++) {
    await expect.poll(async () => (await store.record(session.id))?.openTurn).toBe(turn)
    run.say(said('ok', `msg_${turn}`), result('ok'))
    await session.settled(turn)
  }
  expect((await store.record(session.id))?.queue).toEqual([])
  // The journal has the command and the frame that it became, without the image.
  expect(bytes() - before).toBeLessThan(3.25 * accepted)
})
