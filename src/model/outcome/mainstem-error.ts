import type { ErrorCode } from './errors.ts'

/** The error that Mainstem throws. Branch on `code`. In its own file, so that a worker thread can import it alone. */
export class MainstemError extends Error {
  /** Identifies the error. */
  readonly code: ErrorCode
  /** Details; their shape depends on `code`. */
  readonly details: Record<string, unknown> | undefined

  constructor(code: ErrorCode, message: string, details?: Record<string, unknown>, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MainstemError'
    this.code = code
    this.details = details
  }

  /** How to fix this error, if it was thrown with advice. */
  get advice(): string | undefined {
    const advice = this.details?.advice
    return typeof advice === 'string' ? advice : undefined
  }
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
