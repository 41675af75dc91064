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
