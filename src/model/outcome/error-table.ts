import type { ErrorCode } from './errors.types.ts'
import { MainstemError } from './mainstem-error.ts'

// Without zod, because commands that only call a server should not load it.

/** The HTTP status, the CLI exit code and the default advice of every error code. */
export const ERRORS = {
  invalid_request: { http: 400, exit: 2, advice: 'Correct the named field and send the request again.' },
  unsupported_media: { http: 415, exit: 2, advice: 'Send Content-Type: application/json.' },
  unauthorized: {
    http: 401,
    exit: 7,
    advice: 'Send the token that `mainstem serve` wrote at its first start.',
  },
  forbidden: { http: 403, exit: 5, advice: 'Request less, or ask the operator to raise the limit.' },
  session_not_found: {
    http: 404,
    exit: 4,
    advice: 'List the sessions; this one does not exist or was deleted.',
  },
  agent_not_found: {
    http: 404,
    exit: 4,
    advice: 'Install the agent, or set its command in the configuration.',
  },
  request_not_found: { http: 404, exit: 4, advice: 'List the open requests; this one does not exist.' },
  not_found: { http: 404, exit: 4, advice: 'Check the path against the API reference.' },
  conflict: { http: 409, exit: 1, advice: 'Read the current state; another client changed it first.' },
  cursor_gone: { http: 410, exit: 4, advice: 'Read again from the earliest entry that is kept.' },
  too_large: { http: 413, exit: 2, advice: 'Send less in one request.' },
  idempotency_conflict: { http: 422, exit: 2, advice: 'Use a new idempotency key for a different request.' },
  unsupported_option: { http: 422, exit: 2, advice: 'Leave the option out, or choose an agent that has it.' },
  agent_not_ready: { http: 424, exit: 6, advice: 'Complete the setup of the agent.' },
  authentication_failed: { http: 502, exit: 6, advice: 'Log in to the agent, or set its key variable.' },
  connection_failed: {
    http: 502,
    exit: 1,
    advice: 'A connection of the agent or of its server failed; the message names it. Try again.',
  },
  protocol_error: {
    http: 502,
    exit: 1,
    advice: 'The agent broke its protocol; inspect its standard error and its raw frames.',
  },
  timeout: { http: 504, exit: 3, advice: 'Raise the timeout, or give the agent a smaller task.' },
  overloaded: { http: 503, exit: 1, advice: 'Try again after the time in Retry-After.' },
  draining: {
    http: 503,
    exit: 1,
    advice: 'The server is stopping; try again after the time in Retry-After.',
  },
  fenced: {
    http: 503,
    exit: 1,
    advice:
      'Another server owns the session; send the request there, or try again after the time in Retry-After.',
  },
  storage_failed: { http: 503, exit: 1, advice: 'Check disk space and permissions of the data directory.' },
  permission_denied: { http: 500, exit: 5, advice: 'Allow the tool in the policy, or answer the request.' },
  tool_execution_failed: { http: 500, exit: 1, advice: 'Inspect the output of the tool.' },
  output_truncated: {
    http: 500,
    exit: 1,
    advice: "Raise the model's output limit, or request a shorter answer.",
  },
  context_overflow: {
    http: 500,
    exit: 1,
    advice: 'The conversation no longer fits the model. Compact it if the agent can, or start a new session.',
  },
  rate_limited: { http: 500, exit: 3, advice: 'Wait for the limit to reset.' },
  quota_exceeded: { http: 500, exit: 3, advice: 'Wait for the quota to reset, or use another account.' },
  node_lost: { http: 500, exit: 1, advice: 'Send the prompt again; another node continues the session.' },
  unknown: {
    http: 500,
    exit: 1,
    advice: 'Inspect the raw frames of the agent and the log of the server.',
  },
} as const satisfies Record<string, { http: number; exit: number; advice: string }>

export function isErrorCode(text: string | undefined): text is ErrorCode {
  return text !== undefined && Object.hasOwn(ERRORS, text)
}

/** The advice of an error: its own, or the default of its code. */
export function adviceFor({ code, advice }: { code: ErrorCode; advice?: string | undefined }): string {
  return advice ?? ERRORS[code].advice
}

/** The JSON-RPC code of an error. Codes without a JSON-RPC equivalent become -32000 with `data.code`. */
export function jsonRpcCode(code: ErrorCode): number {
  if (code === 'invalid_request') return -32602
  if (code === 'unknown') return -32603
  return -32000
}

/** Converts a thrown value into a `MainstemError`, with the original as its `cause`. */
export function toMainstemError(thrown: unknown): MainstemError {
  if (thrown instanceof MainstemError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new MainstemError('unknown', message, undefined, { cause: thrown })
}

/** Whether a store refuses this session because its stored data is damaged. Other sessions are not affected. */
export function isDamaged(thrown: unknown, session: string): boolean {
  const { code, details } = toMainstemError(thrown)
  return code === 'storage_failed' && details?.session === session
}
