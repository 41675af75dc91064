import type { AgentErrorType } from './agent-error.ts'

/** The names of errors in the protocols of the agents, in snake case, without the word `error` at their end. */
const NAMES: Readonly<Record<Exclude<AgentErrorType, 'unknown'>, readonly string[]>> = {
  authenticationFailed: [
    'authentication',
    'authentication_failed',
    'unauthorized',
    'oauth',
    'fatal_authentication',
  ],
  permissionDenied: [
    ...['permission', 'billing', 'usage_limit_exceeded', 'cyber_policy', 'fatal_untrusted_workspace'],
    ...[
      'max_turns',
      'max_budget_usd',
      'fatal_turn_limited',
      'max_session_turns',
      'refusal',
      'policy_violation',
    ],
  ],
  sessionNotFound: ['session_not_found', 'thread_not_found', 'conversation_not_found'],
  toolExecutionFailed: [
    'sandbox',
    'fatal_sandbox',
    'fatal_tool_execution',
    'during_execution',
    'tool_execution',
  ],
  timeout: ['timeout', 'request_timeout', 'deadline_exceeded', 'timed_out'],
  connectionFailed: [
    ...['api', 'server', 'overloaded', 'rate_limit', 'resource_exhausted', 'unavailable', 'connection'],
    ...['server_overloaded', 'internal_server', 'internal', 'http_connection_failed'],
    ...['response_stream_connection_failed', 'response_stream_disconnected'],
    ...['response_too_many_failed_attempts', 'fatal_cancellation', 'stream_disconnected'],
  ],
  protocolError: [
    ...['invalid_request', 'not_found', 'request_too_large', 'max_output_tokens', 'bad_request'],
    ...['context_window_exceeded', 'thread_rollback_failed', 'active_turn_not_steerable'],
    ...['fatal_input', 'fatal_config', 'invalid_chunk', 'invalid_stream', 'invalid_argument'],
    ...['no_finish_reason', 'empty_response', 'malformed_function_call', 'max_structured_output_retries'],
    ...['tool_not_registered', 'invalid_tool_params', 'loop_detected'],
  ],
}

const TYPES: ReadonlyMap<string, AgentErrorType> = new Map(
  entriesOf(NAMES).flatMap(([type, names]) => names.map((name) => [name, type])),
)

function entriesOf<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  const keys: Key[] = []
  for (const key in record) keys.push(key)
  return keys.map((key) => [key, record[key]])
}

/** The kind of an error that an agent names, such as `rate_limit_error`, `FatalInputError` or `serverOverloaded`. */
export function typeOfName(name: unknown): AgentErrorType | undefined {
  if (typeof name !== 'string') return undefined
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  return TYPES.get(words.replace(/^error_/, '').replace(/_?error$/, ''))
}
