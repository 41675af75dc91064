import { expect, test } from 'vitest'
import { withContextOverflow } from '../../src/model/outcome/context-overflow.ts'

test.each([
  'Prompt is too long',
  "This model's maximum context length is 128000 tokens.",
  "Codex ran out of room in the model's context window. Start a new thread.",
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'context_length_exceeded',
  'Your input exceeds the context window of this model.',
])('an error of a full context has its own code: %s', (message) => {
  const error = { code: 'invalid_request', message, advice: 'Correct the field.' } as const
  expect(withContextOverflow(error)).toEqual({ code: 'context_overflow', message })
})

test('an agent that cannot compact is advised to start a new session', () => {
  const error = { code: 'unknown', message: 'Prompt is too long' } as const
  const { advice } = withContextOverflow(error, false)
  expect(advice).toMatch(/cannot compact it here. Start a new session\.$/)
})

test('other errors, and errors that are known better, are unchanged', () => {
  const other = { code: 'invalid_request', message: 'The file exceeds the maximum size.' } as const
  const known = { code: 'rate_limited', message: 'context length exceeded' } as const
  expect([withContextOverflow(other), withContextOverflow(known)]).toEqual([other, known])
})
