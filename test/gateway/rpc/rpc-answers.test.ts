import { expect, test } from 'vitest'
import { answerIn, isPlainAnswer } from '../../../src/gateway/rpc/answers.ts'
import type { RequestOpened } from '../../../src/model/events/request.ts'

const request: RequestOpened = {
  type: 'request.opened',
  requestId: 'r1',
  kind: 'permission',
  blocking: true,
  options: [],
  inputDigest: 'd',
}

test.each(['Yes', ' yes! ', 'OK...', 'allow.!'])('%j allows', (message) => {
  expect(isPlainAnswer(message, request)).toBe(true)
  expect(answerIn(message, request)).toMatchObject({ requestId: 'r1', decision: 'allow' })
})

test('marks that end nothing are words like any others, however many there are', () => {
  const message = `${'!'.repeat(200_000)}x`
  expect(isPlainAnswer(message, request)).toBe(false)
  expect(answerIn(message, request)).toMatchObject({ decision: 'deny', message })
})

test('a yes allows this call only, and longer only by the words of the option', () => {
  const option = (label: string, scope: 'session' | 'always') =>
    ({ id: label, label, effect: 'allow', scope }) as const
  const wide = {
    ...request,
    options: [option('Allow for this session', 'session'), option('Always', 'always')],
  }
  for (const message of ['y', 'yes', 'allow', '1', 'allow once']) {
    expect(() => answerIn(message, wide)).toThrow(
      expect.objectContaining({
        code: 'unsupported_option',
        advice: 'Reply with the words of its option, "Allow for this session" or "Always", or deny.',
      }),
    )
  }
  expect(answerIn('always.', wide)).toMatchObject({ decision: 'allow', scope: 'always' })
  expect(answerIn('no', wide)).toMatchObject({ decision: 'deny' })
})
