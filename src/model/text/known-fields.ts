import { MainstemError } from '../outcome/mainstem-error.ts'
import { nearest } from './nearest.ts'

/**
 * Refuses options that do not exist, because a misspelled one would have no effect. For options that are not data,
 * such as callbacks and signals; a schema refuses unknown fields by itself. `whole` names the options in the error.
 */
export function checkFields(options: unknown, known: readonly string[], whole: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new MainstemError('invalid_request', `${whole}: must be an object`, { field: whole })
  }
  for (const [field, value] of Object.entries(options)) {
    if (value === undefined || known.includes(field)) continue
    throw new MainstemError('invalid_request', `${field}: ${unknownField(field, known)}`, { field })
  }
}

/** Refuses a signal that could not stop anything. */
export function checkSignal(signal: unknown, field = 'signal'): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new MainstemError('invalid_request', `${field}: must be an AbortSignal`, { field })
}

/** Refuses a callback that could not be called. */
export function checkCallback(callback: unknown, field: string): void {
  if (callback === undefined || typeof callback === 'function') return
  throw new MainstemError('invalid_request', `${field}: must be a function`, { field })
}

/** Says that a field does not exist, and which one was meant. */
export function unknownField(field: string, known: readonly string[]): string {
  const near = nearest(field, known)
  if (near !== undefined) return `unknown field; did you mean "${near}"?`
  return known.length === 0 ? 'unknown field' : `unknown field; known fields: ${known.join(', ')}`
}
