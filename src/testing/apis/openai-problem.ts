import type { ModelProblem } from './api.ts'

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  403: 'invalid_request_error',
  404: 'invalid_request_error',
  429: 'rate_limit_error',
}

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
}

/** The error body that both OpenAI APIs send. */
export function openaiProblem({ status, message }: ModelProblem): object {
  return {
    error: { message, type: TYPES[status] ?? 'server_error', param: null, code: CODES[status] ?? null },
  }
}
