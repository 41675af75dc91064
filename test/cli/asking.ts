import type { RequestOpened } from '../../src/model/events/request.ts'
import type { AnswerCommand } from '../../src/model/index.ts'
import { Desktop } from './desktop.ts'

export const permission: RequestOpened = {
  type: 'request.opened',
  requestId: 'r1',
  kind: 'permission',
  blocking: true,
  inputDigest: 'd',
  options: [
    { id: 'deny', label: 'Deny', effect: 'deny', scope: 'once' },
    { id: 'session', label: 'Allow for this session', effect: 'allow', scope: 'session' },
    { id: 'once', label: 'Allow once', effect: 'allow', scope: 'once', default: true },
  ],
}

const options = [{ label: 'red' }, { label: 'green', description: 'like grass' }, { label: 'blue' }]

export const question = (more: object = {}): RequestOpened => ({
  ...permission,
  kind: 'question',
  options: [],
  questions: [{ id: 'colour', text: 'Which colour?', options, ...more }],
})

export const DOWN = '\x1b[B'
export const ENTER = '\r'

/** Presses the keys with pauses between them. */
export async function typed(
  request: RequestOpened,
  keys: readonly string[],
  rows = 40,
): Promise<AnswerCommand | undefined> {
  using desk = new Desktop()
  const answer = desk.ask(request, rows)
  for (const key of keys) await desk.press(key)
  return answer
}
