import { expect, test } from 'vitest'
import { READERS, type Resumed, resumes } from '../../faults/resumes/resumes.ts'
import { someOf } from '../long.ts'

test('resumes through a proxy that cuts connections give the whole log, over each transport', {
  timeout: 300_000,
}, async () => {
  const transports = someOf(Object.keys(READERS), 1)
  const all: Resumed[] = []
  await resumes(2, 1, (resumed) => all.push(resumed), [...transports])
  expect(all.map(({ transport, resumes: count, broken }) => ({ transport, count, broken }))).toEqual(
    transports.map((transport) => ({ transport, count: 2, broken: [] })),
  )
  for (const { transport, cuts } of all) expect(cuts, `connections cut over ${transport}`).toBeGreaterThan(0)
})
