import { createHash } from 'node:crypto'
import { z } from 'zod'
import { MainstemError } from '../../model/index.ts'
import { parse } from '../../model/parse.ts'
import type { IdempotencyKey } from '../../sessions/claim.ts'

/** The idempotency key as a client sends it, in a header or in the body. */
export const KeyText = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{Cc}*$/u, 'control characters are not allowed')

/**
 * Returns the idempotency key of a request, if it has one. The parsed body has its fields in schema order, so the
 * fingerprint does not depend on the order in which they were sent.
 */
export function keyFrom(header: unknown, scope: string, body: unknown): IdempotencyKey | undefined {
  if (header === undefined) return undefined
  return { scope, key: parse(KeyText, header, 'Idempotency-Key'), fingerprint: fingerprintOf(body) }
}

export function fingerprintOf(body: unknown): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex')
}

/** Keys whose first request has no response yet. */
export class InFlight {
  readonly #open = new Map<string, string>()

  /** The returned function marks the request as answered. */
  enter({ scope, key, fingerprint }: IdempotencyKey): () => void {
    const id = JSON.stringify([scope, key])
    const open = this.#open.get(id)
    if (open !== undefined && open !== fingerprint) {
      throw new MainstemError('idempotency_conflict', `key "${key}" is in use for a different request`)
    }
    if (open !== undefined)
      throw new MainstemError('conflict', `the request with key "${key}" is still running`)
    this.#open.set(id, fingerprint)
    return () => void this.#open.delete(id)
  }
}
