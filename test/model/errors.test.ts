import { describe, expect, it } from 'vitest'
import { ERRORS, ErrorCode, jsonRpcCode, MainstemError, toMainstemError } from '../../src/model/index.ts'

/** HTTP status and CLI exit code; a code without a status of its own is told in events only. */
const TABLE: Record<ErrorCode, readonly [http: number | 'events', exit: number]> = {
  invalid_request: [400, 2],
  unsupported_media: [415, 2],
  unauthorized: [401, 7],
  forbidden: [403, 5],
  session_not_found: [404, 4],
  agent_not_found: [404, 4],
  request_not_found: [404, 4],
  not_found: [404, 4],
  conflict: [409, 1],
  cursor_gone: [410, 4],
  too_large: [413, 2],
  idempotency_conflict: [422, 2],
  unsupported_option: [422, 2],
  agent_not_ready: [424, 6],
  authentication_failed: [502, 6],
  connection_failed: [502, 1],
  protocol_error: [502, 1],
  timeout: [504, 3],
  overloaded: [503, 1],
  draining: [503, 1],
  fenced: [503, 1],
  storage_failed: [503, 1],
  permission_denied: ['events', 5],
  tool_execution_failed: ['events', 1],
  output_truncated: ['events', 1],
  context_overflow: ['events', 1],
  rate_limited: ['events', 3],
  quota_exceeded: ['events', 3],
  node_lost: ['events', 1],
  unknown: [500, 1],
}

describe.each(Object.entries(TABLE))('the error %s', (name, [http, exit]) => {
  const code = ErrorCode.parse(name)

  it('has the status and the exit code of the table', () => {
    expect(ERRORS[code]).toMatchObject({ http: http === 'events' ? 500 : http, exit })
  })

  it('says what to do, in one sentence', () => {
    expect(ERRORS[code].advice).toMatch(/^[A-Z][^\n]+\.$/)
  })

  it('has a JSON-RPC code', () => {
    const own = name === 'invalid_request' ? -32602 : name === 'unknown' ? -32603 : -32000
    expect(jsonRpcCode(code)).toBe(own)
  })
})

describe('the error class', () => {
  it('has a closed list of codes, the same as the table', () => {
    expect([...ErrorCode.options].sort()).toEqual(Object.keys(TABLE).sort())
    expect(ErrorCode.safeParse('surprise').success).toBe(false)
  })

  it('is left alone when it passes through again', () => {
    const error = new MainstemError('timeout', 'too late', { ms: 5 })
    expect(toMainstemError(error)).toBe(error)
    expect(error).toMatchObject({ name: 'MainstemError', code: 'timeout', details: { ms: 5 } })
  })

  it('keeps a foreign error as its cause', () => {
    const thrown = new TypeError('x is not a function')
    const error = toMainstemError(thrown)
    expect(error).toMatchObject({ code: 'unknown', message: 'x is not a function' })
    expect(error.cause).toBe(thrown)
    expect(toMainstemError('plain text')).toMatchObject({ code: 'unknown', message: 'plain text' })
    expect(toMainstemError(undefined).message).toBe('undefined')
  })
})
