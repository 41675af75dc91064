import { expect, test } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import type { Event } from '../../src/model/index.ts'
import { SAMPLES } from '../model/samples.ts'
import { entriesOf, projectAll } from './entries.ts'

const silent: Event = {
  type: 'notice.raised',
  level: 'info',
  code: 'agent_silent',
  message: 'no output from the agent for 60 s',
}

test.each([...dialects])('%s reports a silent agent at once, without ending anything', (_, dialect) => {
  const running = [
    SAMPLES['session.started'],
    SAMPLES['turn.started'],
    { type: 'session.updated', nativeSessionId: 'native-1' },
  ] as const satisfies readonly Event[]
  const before = projectAll(dialect, entriesOf(...running))
  const shown = projectAll(dialect, entriesOf(...running, silent)).slice(before.length)
  const text = shown.map((message) => JSON.stringify(message)).join('\n')
  expect(text.split(silent.message)).toHaveLength(2)
  expect(text).toMatch(/agent_?silent/i)
  expect(text).not.toMatch(/"(error|done|result|session_end|sessionEnded)"/)
})
