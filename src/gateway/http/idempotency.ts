import { createHash } from 'node:crypto'
import * as z from 'zod'
import { parse } from '../../model/text/parse.ts'
import type { IdempotencyKey } from '../../sessions/claim.ts'

/** The idempotency key as a client sends it, in a header or in the body. */
export const KeyText = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{Cc}*$/u, 'control characters are not allowed')

/**
 * Returns the idempotency key of a request. The parsed body has its fields in schema order, so the fingerprint does not
 * depend on the order in which they were sent.
 */
export function keyFrom(header: unknown, scope: string, body: unknown): IdempotencyKey {
  return { scope, key: parse(KeyText, header, 'Idempotency-Key'), fingerprint: fingerprintOf(body) }
}

export function fingerprintOf(body: unknown): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex')
}
