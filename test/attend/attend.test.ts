import { expect, test } from 'vitest'
import { type AskPerson, type AttendedSession, attend } from '../../src/attend/attend.ts'
import { submitAnswer } from '../../src/attend/submit-answer.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import { type AnswerCommand, type Entry, type Event, MainstemError } from '../../src/model/index.ts'
import { entriesOf } from '../dialects/entries.ts'

const request = (requestId: string, more: Partial<RequestOpened> = {}): RequestOpened => ({
  type: 'request.opened',
  requestId,
  kind: 'permission',
  blocking: true,
  inputDigest: requestId,
  options: [],
  ...more,
})
const allow: AnswerCommand = { type: 'answer', requestId: 'a', decision: 'allow' }

/** A session whose log is known. `refusal` is the error of every answer. */
function recorded(events: Event[], open: RequestOpened[], refusal?: MainstemError) {
  const answers: [string, AnswerCommand][] = []
  const session: AttendedSession = {
    async *entries(after) {
      yield* entriesOf(...events).slice(after)
    },
    openRequests: async () => open,
    async answer({ inputDigest }, answer) {
      if (refusal) throw refusal
      answers.push([inputDigest, answer])
    },
  }
  return { session, answers }
}

const attending = (asked: string[] = []) => ({
  after: 0,
  show: async (_: Entry) => undefined,
  ask: async ({ requestId }: RequestOpened) => {
    asked.push(requestId)
    return { ...allow, requestId }
  },
  cancel: () => undefined,
  detach: new AbortController().signal,
})

test('only open requests for a person are asked', async () => {
  const asked: string[] = []
  const a = request('a')
  const events = [a, request('policy', { answeredBy: 'policy' }), request('hook', { answeredBy: 'hook' })]
  const { session, answers } = recorded([...events, request('closed')], [a])
  await attend(session, attending(asked))
  expect(asked).toEqual(['a'])
  expect(answers).toEqual([['a', allow]])
})

test('a person is told how many other requests wait, also of those that open and close later', async () => {
  const [a, b] = [request('a'), request('b')]
  const later = [request('c'), request('hook', { answeredBy: 'hook' }), request('d')]
  const closed = { type: 'request.withdrawn', requestId: 'b', reason: 'agent' } as const
  const { session } = recorded([a, b, ...later, closed], [a, b])
  const counts: number[] = []
  const ask: AskPerson = async ({ requestId }, { waiting }) => {
    if (requestId !== 'a') return { ...allow, requestId }
    counts.push(waiting())
    await new Promise(setImmediate)
    counts.push(waiting())
    return allow
  }
  await attend(session, { ...attending(), ask })
  expect(counts).toEqual([1, 2])
})

test('an answer to a request that was closed meanwhile is not sent', async () => {
  const a = request('a')
  const { session, answers } = recorded(
    [a, { type: 'request.withdrawn', requestId: 'a', reason: 'agent' }],
    [a],
  )
  const ask = (_: RequestOpened, { signal }: { signal: AbortSignal }) =>
    new Promise<AnswerCommand>((resolve) => signal.addEventListener('abort', () => resolve(allow)))
  await attend(session, { ...attending(), ask })
  expect(answers).toEqual([])
})

test.each(['request_not_found', 'conflict'] as const)('a late answer, %s, is ignored', async (code) => {
  const a = request('a')
  const { session } = recorded([a], [a], new MainstemError(code, 'too late'))
  await attend(session, attending())
  await submitAnswer(Promise.reject(new MainstemError(code, 'too late')), () => Promise.reject('not called'))
})

test.each(['invalid_request', 'unsupported_option'] as const)(
  'after a refusal, %s, the person is asked again',
  async (code) => {
    const a = request('a')
    const { session, answers } = recorded([a], [a])
    const refusal = new MainstemError(code, 'no such scope')
    const refusals: (MainstemError | undefined)[] = []
    const strict: AttendedSession = {
      ...session,
      answer: async (asked, answer) => {
        if (answer.scope !== 'session') throw refusal
        await session.answer(asked, answer)
      },
    }
    const ask: AskPerson = async (_, { refused }) => {
      refusals.push(refused)
      return refused ? { ...allow, scope: 'session' } : allow
    }
    await attend(strict, { ...attending(), ask })
    expect(refusals).toEqual([undefined, refusal])
    expect(answers).toEqual([['a', { ...allow, scope: 'session' }]])
  },
)

test('an answer that fails for another reason is reported', async () => {
  const a = request('a')
  const { session } = recorded([a], [a], new MainstemError('storage_failed', 'the disk is full'))
  await expect(attend(session, attending())).rejects.toMatchObject({ code: 'storage_failed' })
})

test('a person who gives no answer cancels', async () => {
  const a = request('a')
  let cancelled = 0
  const { session, answers } = recorded([a], [a])
  await attend(session, { ...attending(), ask: async () => undefined, cancel: () => void cancelled++ })
  expect([cancelled, answers]).toEqual([1, []])
})

test('an error after detaching is ignored, one before is not', async () => {
  const detach = new AbortController()
  const failing: AttendedSession = {
    ...recorded([], []).session,
    async *entries() {
      yield* entriesOf(request('a'))
      throw new Error('the connection is gone')
    },
  }
  await expect(attend(failing, { ...attending(), detach: detach.signal })).rejects.toThrow('gone')
  const show = async () => detach.abort()
  await attend(failing, { ...attending(), show, detach: detach.signal })
})
