import { expect, test } from 'vitest'
import { type AgentErrorType, translateError } from '../../src/client/index.ts'

const claude = (type: string) => ({ type: 'error', error: { type, message: 'x' } })
const codex = (codexErrorInfo: unknown) => ({ error: { message: 'x', codexErrorInfo } })
const gemini = (type: string) => ({ type: 'result', status: 'error', error: { type, message: 'x' } })
const documented = (code: string) => ({ type: 'error', status: 'error', error: { code, message: 'x' } })

const NATIVE: [string, unknown, AgentErrorType][] = [
  ['claude', claude('authentication_error'), 'authenticationFailed'],
  ['claude', claude('permission_error'), 'permissionDenied'],
  ['claude', claude('billing_error'), 'permissionDenied'],
  ['claude', claude('rate_limit_error'), 'connectionFailed'],
  ['claude', claude('overloaded_error'), 'connectionFailed'],
  ['claude', claude('api_error'), 'connectionFailed'],
  ['claude', claude('timeout_error'), 'timeout'],
  ['claude', claude('invalid_request_error'), 'protocolError'],
  ['claude', claude('not_found_error'), 'protocolError'],
  ['claude', claude('request_too_large'), 'protocolError'],
  ['claude', { type: 'result', subtype: 'error_during_execution', is_error: true }, 'toolExecutionFailed'],
  ['claude', { type: 'result', subtype: 'error_max_turns', is_error: true }, 'permissionDenied'],
  ['claude', { type: 'result', subtype: 'error_max_budget_usd', is_error: true }, 'permissionDenied'],
  ['codex', codex('contextWindowExceeded'), 'protocolError'],
  ['codex', codex('usageLimitExceeded'), 'permissionDenied'],
  ['codex', codex('serverOverloaded'), 'connectionFailed'],
  ['codex', codex({ httpConnectionFailed: { httpStatusCode: null } }), 'connectionFailed'],
  ['codex', codex({ responseStreamConnectionFailed: { httpStatusCode: null } }), 'connectionFailed'],
  ['codex', codex({ responseStreamDisconnected: { httpStatusCode: null } }), 'connectionFailed'],
  ['codex', codex({ responseTooManyFailedAttempts: { httpStatusCode: 500 } }), 'connectionFailed'],
  ['codex', codex('internalServerError'), 'connectionFailed'],
  ['codex', codex('unauthorized'), 'authenticationFailed'],
  ['codex', codex('badRequest'), 'protocolError'],
  ['codex', codex('sandboxError'), 'toolExecutionFailed'],
  ['codex', codex('threadRollbackFailed'), 'protocolError'],
  ['codex', { type: 'turn.failed', error: { message: "You've hit your usage limit." } }, 'permissionDenied'],
  ['codex', { type: 'error', message: 'exceeded retry limit, last status: 429' }, 'connectionFailed'],
  ['gemini', gemini('FatalAuthenticationError'), 'authenticationFailed'],
  ['gemini', gemini('FatalInputError'), 'protocolError'],
  ['gemini', gemini('FatalSandboxError'), 'toolExecutionFailed'],
  ['gemini', gemini('FatalConfigError'), 'protocolError'],
  ['gemini', gemini('FatalTurnLimitedError'), 'permissionDenied'],
  ['gemini', gemini('FatalToolExecutionError'), 'toolExecutionFailed'],
  ['gemini', documented('INVALID_CHUNK'), 'protocolError'],
  ['gemini', documented('RESOURCE_EXHAUSTED'), 'connectionFailed'],
  ['gemini', documented('DEADLINE_EXCEEDED'), 'timeout'],
]

test.each(NATIVE)('%s: %j', (agent, native, type) => {
  expect(translateError(native, agent).type).toBe(type)
  expect(translateError(JSON.stringify(native), agent).type).toBe(type)
})
