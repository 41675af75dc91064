import type { ErrorCode } from './errors.ts'

/** The one error class: callers branch on `code`. Apart from its table, so that a thread can have it alone. */
export class MainstemError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown> | undefined

  constructor(code: ErrorCode, message: string, details?: Record<string, unknown>, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MainstemError'
    this.code = code
    this.details = details
  }

  /** The way out of this situation, where it was thrown with one in its details. */
  get advice(): string | undefined {
    const advice = this.details?.advice
    return typeof advice === 'string' ? advice : undefined
  }
}
