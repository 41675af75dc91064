import { expect, it } from 'vitest'
import { Patience, Stuck } from '../../faults/crash/patience.ts'

it('names the round and the thing that did not happen in time', async () => {
  const patience = new Patience(10, () => ['command-7 has no answer'])
  patience.place = 'round 12 (during-drain)'
  const waited = patience.for('the end of the server', new Promise(() => undefined))
  await expect(waited).rejects.toThrow(Stuck)
  await expect(waited).rejects.toThrow(
    'round 12 (during-drain): waited 0.01 s for the end of the server\n  command-7 has no answer',
  )
})

it('passes on what happened in time', async () => {
  expect(await new Patience(60_000, () => []).for('a value', Promise.resolve(7))).toBe(7)
})
