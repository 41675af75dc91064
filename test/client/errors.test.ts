import { describe, expect, it } from 'vitest'
import { AgentError, HttpTransport, translateError } from '../../src/client/index.ts'
import { ErrorCode, MainstemError } from '../../src/model/index.ts'

const TYPES = [
  'connectionFailed',
  'authenticationFailed',
  'sessionNotFound',
  'permissionDenied',
  'toolExecutionFailed',
  'timeout',
  'protocolError',
  'unknown',
]

describe('translateError', () => {
  it('gives one of the closed types for every code there is, and uses them all', () => {
    const types = ErrorCode.options.map((code) => translateError(new MainstemError(code, 'x'), 'codex').type)
    expect([...new Set(types)].sort()).toEqual([...TYPES].sort())
  })

  it.each([
    ['a code of ours', new MainstemError('unauthorized', 'no'), 'authenticationFailed'],
    [
      'the code of an event',
      { type: 'error', message: 'x', code: 'toolExecutionFailed' },
      'toolExecutionFailed',
    ],
    ['a problem document', { code: 'session_not_found', detail: 'x' }, 'sessionNotFound'],
    ['what fetch throws', new TypeError('fetch failed'), 'connectionFailed'],
    ['a time that is over', new DOMException('x', 'TimeoutError'), 'timeout'],
    ['text that is not JSON', new SyntaxError('x'), 'protocolError'],
    ['a status of HTTP', 401, 'authenticationFailed'],
    ['an answer with a status', { status: 401, message: 'no' }, 'authenticationFailed'],
    ['an answer of another library', { statusCode: 403 }, 'permissionDenied'],
    ['a code of the system', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'connectionFailed'],
    ['a program that is missing', Object.assign(new Error('x'), { code: 'ENOENT' }), 'connectionFailed'],
    [
      'a code of the system in the cause',
      new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ETIMEDOUT' }) }),
      'timeout',
    ],
    ['words about a refused connection', 'connect ECONNREFUSED 127.0.0.1:8080', 'connectionFailed'],
    [
      'a failed turn of Codex',
      { type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized' } },
      'authenticationFailed',
    ],
    [
      'a line of Codex',
      '{"type":"turn.failed","error":{"message":"stream disconnected before completion"}}',
      'connectionFailed',
    ],
    [
      'an error of Gemini',
      { type: 'error', status: 'error', error: { code: 'INVALID_CHUNK', message: 'x' } },
      'protocolError',
    ],
    [
      'a result of Gemini',
      { type: 'result', status: 'error', error: { type: 'FatalAuthenticationError', message: 'x' } },
      'authenticationFailed',
    ],
    [
      'an error of a board',
      { type: 'error', payload: { message: 'Session failed: Permission denied' } },
      'permissionDenied',
    ],
    ['a session that Codex does not have', 'no rollout found for thread id x', 'sessionNotFound'],
    ['a code that says nothing', { code: 'unknown', message: 'Request timed out' }, 'timeout'],
    ['a failure without a hint', { type: 'turn.failed', error: { message: 'no' } }, 'unknown'],
    ['a text', 'went wrong', 'unknown'],
    ['nothing at all', undefined, 'unknown'],
  ])('knows %s', (_what, native, type) => {
    expect(translateError(native, 'codex')).toMatchObject({ type, agentType: 'codex' })
  })

  it('has the sentence of a nested error as its message', () => {
    const error = translateError({ type: 'turn.failed', error: { message: 'no model' } }, 'codex')
    expect(error).toMatchObject({ message: 'no model', nativeError: expect.stringContaining('turn.failed') })
  })

  it('ends in an error that is its own cause', () => {
    const error = new Error('round')
    error.cause = error
    expect(translateError(error)).toMatchObject({ type: 'unknown', message: 'round' })
  })

  it('keeps what was said, and an error that is translated already', () => {
    const error = translateError({ detail: 'no such session', code: 'session_not_found' }, 'gemini')
    expect(error.message).toBe('no such session')
    expect(error.nativeError).toContain('"code":"session_not_found"')
    expect(translateError(error, 'codex')).toBe(error)
    expect(error).toBeInstanceOf(AgentError)
  })
})

/** A server that always answers like this. */
const answering = (status: number, body: string) =>
  new HttpTransport({ fetch: async () => new Response(body, { status }) })

describe('a server that refuses the connection', () => {
  it('is named by its URL, with the reason', async () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:9')
    const transport = new HttpTransport({
      baseUrl: 'http://127.0.0.1:9',
      fetch: async () => {
        throw new TypeError('fetch failed', { cause })
      },
    })
    const failed = transport.state('1').catch((thrown: unknown) => translateError(thrown))
    expect(await failed).toMatchObject({
      type: 'connectionFailed',
      message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9\/\S+ cannot be reached: connect ECONNREFUSED/),
    })
  })
})

describe('an answer', () => {
  it.each([
    ['without a code is known by its status', 401, '', 'authenticationFailed'],
    ['of a proxy is worth another try', 502, '<html>', 'connectionFailed'],
    ['that says more than its status is believed', 400, '{"code":"draining"}', 'connectionFailed'],
    ['with a code that nobody knows is known by its status', 403, '{"code":"x"}', 'permissionDenied'],
    ['that is not JSON is no answer', 200, '<html>', 'protocolError'],
    ['that names no session is no answer', 200, '{}', 'protocolError'],
    ['with a state that does not exist is no answer', 200, '{"id":"1","state":"x"}', 'protocolError'],
  ])('%s', async (_what, status, body, type) => {
    const failed = answering(status, body)
      .state('1')
      .catch((thrown: unknown) => translateError(thrown))
    expect(await failed).toMatchObject({ type })
  })

  it('that is one page of a list is followed to the last', async () => {
    const all = Array.from({ length: 5 }, (_, index) => ({ id: `s${index}`, state: 'done' }))
    const transport = new HttpTransport({
      fetch: async (url) => {
        const before = new URL(url).searchParams.get('before')
        const from = all.findIndex(({ id }) => id === before) + 1
        const sessions = all.slice(from, from + 2)
        return Response.json({ sessions, ...(from + 2 < all.length && { next: sessions.at(-1)?.id }) })
      },
    })
    expect(await transport.list()).toEqual(all)
  })

  it('of a server that counts nothing is counted page by page', async () => {
    const all = Array.from({ length: 230 }, (_, index) => ({ id: index }))
    const transport = new HttpTransport({
      fetch: async (url) => {
        const offset = Number(new URL(url).searchParams.get('offset'))
        return Response.json(all.slice(offset, offset + 100))
      },
    })
    expect(await transport.count('1', 0)).toBe(230)
    expect(await transport.count('1', 230)).toBe(230)
  })
})
