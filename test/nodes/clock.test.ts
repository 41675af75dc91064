import { expect, test } from 'vitest'
import { backgroundTimers } from '../../src/compose/clock.ts'
import { Membership } from '../../src/nodes/membership.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { newSchema } from '../postgres/database.ts'

const DAY = 86_400_000
const MINUTE = 60_000

test('a node whose clock is far from that of the database does not start, in either direction', async () => {
  await using store = await postgresStore({ url: await newSchema() })
  const join = (name: string, offMs: number) =>
    new Membership(
      {
        store,
        clock: { now: () => Date.now() + offMs, monotonic: () => performance.now() },
        background: backgroundTimers,
        terms: { owner: name, ttlMs: 30_000 },
        processId: name,
        newId: () => name,
        info: () => ({ version: '1', labels: [], roots: [], processes: 0, maxProcesses: 1, draining: false }),
        mayRun: () => true,
        directory: async (path) => path,
        track: () => undefined,
        report: () => undefined,
      },
      () => undefined,
    ).join(AbortSignal.timeout(10_000))
  const refused = (text: string) => ({
    message: expect.stringContaining(`${text} that of the database`),
    advice: expect.stringContaining('NTP'),
  })
  await expect(join('ahead', 100 * DAY)).rejects.toMatchObject(refused('144000 minutes ahead of'))
  await expect(join('behind', -100 * DAY)).rejects.toMatchObject(refused('144000 minutes behind'))
  await join('near', 4 * MINUTE)
  await join('exact', 0)
  expect((await store.nodes.list()).map(({ name }) => name)).toEqual(['exact', 'near'])
})
