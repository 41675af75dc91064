import * as z from 'zod'
import { ERRORS } from './error-table.ts'
import type * as types from './errors.types.ts'

const codes = Object.keys(ERRORS) as [keyof typeof ERRORS, ...(keyof typeof ERRORS)[]]
/** Identifies an error. The set is closed: branch on it. */
export const ErrorCode = z.enum(codes)
export type ErrorCode = types.ErrorCode

/** An error as events carry it. */
export const ErrorInfo = z.strictObject({
  code: ErrorCode.describe('Identifies the error; branch on it.'),
  message: z.string().describe('What happened.'),
  advice: z.string().optional().describe('How to fix it; if absent, the advice of the code applies.'),
  native: z.unknown().optional().describe("The agent's own error."),
})
export type ErrorInfo = types.ErrorInfo

/** The error code for an HTTP status of a model's API. */
export function codeOfStatus(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'authentication_failed'
  if (status === 429) return 'rate_limited'
  if (status === 400 || status === 404) return 'invalid_request'
  return status >= 500 ? 'connection_failed' : 'unknown'
}
