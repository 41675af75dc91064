import { expect, test } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import type { Event } from '../../src/model/index.ts'
import { SAMPLES } from '../model/samples.ts'
import { entriesOf, projectAll } from './entries.ts'

const RESET = Date.UTC(2026, 10, 19, 4, 10)

const running = [
  SAMPLES['session.started'],
  SAMPLES['turn.started'],
  { type: 'session.updated', nativeSessionId: 'native-1' },
] as const satisfies readonly Event[]

function shown(dialect: Parameters<typeof projectAll>[0], event: Event): string {
  const before = projectAll(dialect, entriesOf(...running))
  const all = projectAll(dialect, entriesOf(...running, event))
  return all
    .slice(before.length)
    .map((message) => JSON.stringify(message))
    .join('\n')
}

const outside = [...dialects].filter(([name]) => name !== 'mainstem')

test.each(outside)('%s shows until when a used-up limit applies and who is billed', (_, dialect) => {
  const text = shown(dialect, { type: 'limit.reported', kind: 'quota', resetsAt: RESET, account: 'plus' })
  expect(text).toContain('2026-11-19T04:10:00.000Z')
  expect(text).toContain('plus')
  expect(text).not.toMatch(/"(done|result|session_end|sessionEnded)"/)
})

test.each(outside)('%s announces no limit that is not used up', (_, dialect) => {
  const text = shown(dialect, { type: 'limit.reported', kind: 'rate', usedPercent: 40, resetsAt: RESET })
  expect(text).not.toContain('used up')
})
