import { expect, test } from 'vitest'
import type { Write } from '../../../src/agents/agent.ts'
import { Talk, working } from './opencode-talk.ts'

const promptMessage = { info: { id: 'msg_u', role: 'user', time: { created: 1 } }, parts: [] }
const textPart = (text: string, end?: number) => ({
  id: 'prt_1',
  messageID: 'msg_a',
  type: 'text',
  text,
  time: { start: 1, ...(end !== undefined && { end }) },
})
const answer = (parts: object[], completed?: number) => ({
  info: {
    id: 'msg_a',
    role: 'assistant',
    time: { created: 1, ...(completed !== undefined && { completed }) },
  },
  parts,
})

/** A turn that has shown two words of a text when its stream breaks, and whose next stream has just begun. */
function interrupted(): Talk {
  const talk = working()
  talk.sse('server.connected', {})
  talk.part(textPart(''))
  talk.delta('prt_1', 'one ')
  talk.delta('prt_1', 'two ')
  talk.calls.length = 0
  talk.sse('server.connected', {})
  return talk
}

const paths = (talk: Talk) => talk.calls.map((write) => (write.kind === 'http' ? write.path : write.kind))
const textOf = (talk: Talk) =>
  talk
    .of('text.delta')
    .map(({ text }) => text)
    .join('')
const missing = (talk: Talk) =>
  talk.of('notice.raised').flatMap(({ code, data }) => (code === 'events_missing' ? [data] : []))

test('a second event stream has the stored state read', () => {
  expect(paths(interrupted())).toEqual([
    '/session/ses_1/message',
    '/permission',
    '/question',
    '/session/ses_1/todo',
    '/session/status',
  ])
})

test('a text that ended meanwhile is completed, its deltas equal it, and a notice names it', () => {
  const talk = interrupted()
  talk.http('state message ses_1', 200, [promptMessage, answer([textPart('one two three', 2)], 3)])
  expect(textOf(talk)).toBe('one two three')
  expect(talk.of('text.completed')).toMatchObject([{ text: 'one two three' }])
  expect(missing(talk)).toEqual([{ session: 'ses_1', parts: ['prt_1'] }])
  expect(talk.of('native.unmapped')).toEqual([])
})

test('the rest of a text with a gap is shown at its end, and never without its middle', () => {
  const talk = interrupted()
  talk.http('state message ses_1', 200, [promptMessage, answer([textPart('')])])
  talk.delta('prt_1', 'four')
  expect(textOf(talk)).toBe('one two ')
  talk.part(textPart('one two three four', 2))
  expect(textOf(talk)).toBe('one two three four')
  expect(talk.of('text.completed')).toMatchObject([{ text: 'one two three four' }])
  expect(missing(talk)).toEqual([{ session: 'ses_1', parts: ['prt_1'] }])
})

test('what was received of a text with a gap is kept if it never ends', () => {
  const talk = interrupted()
  talk.delta('prt_1', 'four')
  talk.conversation.exit({ signal: 'SIGKILL' })
  expect(textOf(talk)).toBe('one two four')
})

test('a turn that ended meanwhile completes', () => {
  const talk = interrupted()
  const finish = { id: 'prt_f', messageID: 'msg_a', type: 'step-finish', reason: 'stop', cost: 0, tokens: {} }
  const messages = [promptMessage, answer([textPart('one two', 2), finish], 3)]
  talk.http('state message ses_1', 200, messages)
  talk.http('state status', 200, {})
  expect(paths(talk).at(-1)).toBe('/session/ses_1/message')
  talk.http('state last ses_1', 200, messages)
  expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed', result: 'one two ' }])
})

test('a turn that still works goes on', () => {
  const talk = interrupted()
  talk.http('state status', 200, { ses_1: { type: 'busy' } })
  talk.http('state last ses_1', 200, [promptMessage, answer([textPart('')])])
  expect(talk.of('turn.completed')).toEqual([])
})

test('a request of the gap is opened, one that was answered elsewhere is withdrawn', () => {
  const talk = working()
  talk.sse('server.connected', {})
  talk.ask('per_1', 'call_1')
  talk.sse('server.connected', {})
  const asked = { sessionID: 'ses_1', permission: 'bash', patterns: ['ls'], always: [], metadata: {} }
  talk.http('state permission', 200, [{ id: 'per_2', ...asked }])
  expect(talk.of('request.opened').map(({ requestId }) => requestId)).toEqual([
    expect.stringContaining('per_1'),
    expect.stringContaining('per_2'),
  ])
  expect(talk.of('request.withdrawn')).toMatchObject([{ reason: 'answered_elsewhere' }])
})

test('a sub-agent of the gap is read too', () => {
  const talk = interrupted()
  const task = {
    id: 'prt_t',
    messageID: 'msg_a',
    type: 'tool',
    tool: 'task',
    callID: 'call_1',
    state: { status: 'running', input: {}, title: 'look', metadata: { sessionId: 'ses_child' } },
  }
  talk.http('state message ses_1', 200, [promptMessage, answer([task])])
  expect(paths(talk).at(-1)).toBe('/session/ses_child/message')
})

/** A prompt that the server may have, because its writer died within the call. */
function doubtful(resume?: string): { talk: Talk; write: Write | undefined } {
  const talk = new Talk({}, {}, resume)
  talk.http('session', 200, { id: 'ses_1', version: '1.18.33', time: { updated: 100 } })
  talk.sse('server.connected', {})
  talk.prompt('Go')
  const write = talk.calls.at(-1)
  talk.sse('server.connected', {})
  return { talk, write }
}

test('a prompt in doubt is found in the stored messages', () => {
  const { talk, write } = doubtful()
  expect(write && talk.conversation.doubtful(write)).toBe('watch')
  const prompt = { info: { id: 'msg_u', role: 'user', time: { created: 101 } }, parts: [] }
  talk.http('state message ses_1', 200, [prompt, answer([textPart('one', 2)], 3)])
  talk.http('state status', 200, {})
  talk.http('state last ses_1', 200, [prompt, answer([textPart('one', 2)], 3)])
  expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed' }])
})

test.each([undefined, 'ses_1'])(
  'a prompt in doubt that is not stored is lost, and not sent again',
  (resume) => {
    const { talk, write } = doubtful(resume)
    if (write) talk.conversation.doubtful(write)
    const calls = talk.calls.length
    const earlier = { info: { id: 'msg_old', role: 'user', time: { created: 50 } }, parts: [] }
    talk.http('state message ses_1', 200, [earlier])
    talk.http('state status', 200, {})
    talk.http('state last ses_1', 200, [earlier])
    expect(talk.of('turn.completed')).toMatchObject([
      { outcome: 'lost', error: { message: expect.stringContaining('opencode does not have it') } },
    ])
    const later = talk.calls.slice(calls)
    expect(later.filter((call) => call.kind === 'http' && call.method !== 'GET')).toEqual([])
  },
)

test('a prompt that the server has accepted is waited for, even if it is not stored yet', () => {
  const { talk } = doubtful()
  talk.http('prompt', 204)
  talk.http('state status', 200, {})
  talk.http('state last ses_1', 200, [])
  expect(talk.of('turn.completed')).toEqual([])
})

test('a message in doubt that did not join the turn is reported', () => {
  const talk = interrupted()
  talk.command({ type: 'steer', text: 'also this' })
  const write = talk.calls.at(-1)
  expect(write && talk.conversation.doubtful(write)).toBe('watch')
  talk.http('state status', 200, { ses_1: { type: 'busy' } })
  talk.http('state last ses_1', 200, [promptMessage, answer([textPart('')])])
  expect(talk.of('notice.raised')).toContainEqual(
    expect.objectContaining({ code: 'protocol_refused', data: { text: 'also this' } }),
  )
})

test('calls that change nothing twice are repeated', () => {
  const talk = working()
  talk.ask('per_1', 'call_1')
  const [request] = talk.of('request.opened')
  if (request) talk.answer({ type: 'answer', requestId: request.requestId, decision: 'allow', scope: 'once' })
  const write = talk.calls.at(-1)
  expect(write && talk.conversation.doubtful(write)).toBe('again')
})
