import { expect, test } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import type { Event } from '../../src/model/index.ts'
import { SAMPLES } from '../model/samples.ts'
import { entriesOf, projectAll } from './entries.ts'

const lost: Event = {
  type: 'notice.raised',
  level: 'warning',
  code: 'context_lost',
  message: 'The agent starts a new conversation and does not know the earlier turns.',
}

test.each([...dialects])('%s shows that context was lost, before the answer', (_, dialect) => {
  const log = entriesOf(
    SAMPLES['session.started'],
    SAMPLES['turn.started'],
    lost,
    { type: 'session.updated', nativeSessionId: 'native-1' },
    { type: 'text.completed', messageId: 'm1', text: 'the answer' },
    SAMPLES['turn.completed'],
  )
  const shown = projectAll(dialect, log).map((message) => JSON.stringify(message))
  const at = shown.findIndex((message) => message.includes(lost.message))
  expect(shown[at]).toMatch(/context_?lost/i)
  expect(at).toBeLessThan(shown.findIndex((message) => message.includes('the answer')))
})
