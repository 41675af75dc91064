import { describe, expect, test } from 'vitest'
import type { RequestOpened } from '../../../src/model/events/request.ts'
import type { BoundAnswer, Question, RequestOption } from '../../../src/model/index.ts'
import { checkFit } from '../../../src/sessions/turns/answer-fit.ts'

const option = (effect: 'allow' | 'deny', scope: RequestOption['scope']): RequestOption => ({
  id: `${effect}-${scope}`,
  label: effect,
  effect,
  scope,
})
const opened = { type: 'request.opened', requestId: 'r', blocking: true } as const
const permission: RequestOpened = {
  ...opened,
  kind: 'permission',
  inputDigest: 'd',
  options: [option('allow', 'once'), option('allow', 'always'), option('deny', 'once')],
}
const colour: Question = { id: 'colour', text: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] }
const question: RequestOpened = {
  ...opened,
  kind: 'question',
  inputDigest: 'd',
  options: [],
  questions: [colour],
}

type Given = Omit<Partial<BoundAnswer>, 'type' | 'requestId' | 'inputDigest'>

/** The code, field and message of a refusal; undefined if the answer fits. */
function refusal(
  request: RequestOpened,
  given: Given & Pick<BoundAnswer, 'decision'>,
  canChangeInput = false,
) {
  try {
    checkFit(request, { type: 'answer', requestId: 'r', inputDigest: 'd', ...given }, canChangeInput)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown)) throw thrown
    return `${thrown.code} ${thrown.message}`
  }
}

describe('an answer fits its request', () => {
  test.each(['permission', 'plan', 'login'] as const)('a %s request is allowed or denied', (kind) => {
    const request: RequestOpened = { ...permission, kind }
    expect(refusal(request, { decision: 'allow' })).toBeUndefined()
    expect(refusal(request, { decision: 'deny', message: 'no', interrupt: true })).toBeUndefined()
    expect(refusal(request, { decision: 'answered', answers: { colour: ['Red'] } })).toBe(
      `invalid_request decision: a ${kind} request needs "allow" or "deny", not "answered"`,
    )
  })

  test('a question is answered or denied, never allowed', () => {
    expect(refusal(question, { decision: 'answered', answers: { colour: ['Red'] } })).toBeUndefined()
    expect(refusal(question, { decision: 'deny' })).toBeUndefined()
    expect(refusal(question, { decision: 'allow' })).toBe(
      'invalid_request decision: a question request needs "answered" or "deny", not "allow"',
    )
  })

  test.each<[string, Record<string, string[]> | undefined, string]>([
    ['no answers', undefined, 'answers: an answer must not be empty'],
    ['an empty record', {}, 'answers: an answer must not be empty'],
    ['an empty list', { colour: [] }, 'answers: an answer must not be empty'],
    ['a blank', { colour: [' '] }, 'answers: an answer must not be empty'],
    ['another id', { color: ['Red'] }, 'answers.color: the request has no question "color"'],
    ['a label that is not offered', { colour: ['Green'] }, 'answers.colour: "Green" is not offered'],
    ['two labels for one', { colour: ['Red', 'Blue'] }, 'answers.colour: the question takes one answer'],
  ])('a question with %s is refused', (_name, answers, message) => {
    expect(refusal(question, { decision: 'answered', ...(answers && { answers }) })).toContain(message)
  })

  test('a question takes free text where it offers that, and several answers where it asks for them', () => {
    const open = (more: Partial<Question>): RequestOpened => ({
      ...opened,
      ...question,
      questions: [{ ...colour, ...more }],
    })
    const answered = (answers: string[]) => ({ decision: 'answered', answers: { colour: answers } }) as const
    expect(refusal(open({ other: true }), answered(['Green']))).toBeUndefined()
    expect(refusal(open({ options: [] }), answered(['Green']))).toBeUndefined()
    expect(refusal(open({ multiple: true }), answered(['Red', 'Blue']))).toBeUndefined()
  })

  test('a scope must be offered, and the refusal names the scopes that are', () => {
    expect(refusal(permission, { decision: 'allow', scope: 'always' })).toBeUndefined()
    expect(refusal(permission, { decision: 'allow', scope: 'session' })).toBe(
      'unsupported_option scope: the agent does not offer "session" here; use "once" or "always", or deny the request',
    )
    const lasting: RequestOpened = { ...permission, options: [option('allow', 'always')] }
    expect(refusal(lasting, { decision: 'allow' })).toContain('scope: the agent does not offer "once"')
    const bare: RequestOpened = { ...permission, options: [] }
    expect(refusal(bare, { decision: 'allow' })).toBeUndefined()
    expect(refusal(bare, { decision: 'allow', scope: 'session' })).toContain('use "once"')
  })

  test('a denial fits with every scope, because a narrower denial is still one', () => {
    expect(refusal(permission, { decision: 'deny', scope: 'session' })).toBeUndefined()
  })

  test('a changed input belongs to an approval of an agent that runs it', () => {
    const input = { command: 'ls' }
    expect(refusal(permission, { decision: 'allow', input }, true)).toBeUndefined()
    expect(refusal(permission, { decision: 'allow', input })).toContain('unsupported_option input: ')
    expect(refusal(permission, { decision: 'deny', input }, true)).toContain('invalid_request input: ')
  })

  test('an approval with parts of another decision is refused', () => {
    expect(refusal(permission, { decision: 'allow', interrupt: true })).toContain(
      'invalid_request interrupt: ',
    )
    expect(refusal(permission, { decision: 'allow', answers: {} })).toContain('invalid_request answers: ')
  })
})
