import { createHmac, randomBytes } from 'node:crypto'
import type { WebhookSecret } from '../model/webhook.ts'

const PREFIX = 'whsec_'

/** A secret of Standard Webhooks has 24 to 64 bytes. */
const BYTES = { least: 24, usual: 32, most: 64 }

export const newSecret = (): string => `${PREFIX}${randomBytes(BYTES.usual).toString('base64')}`

export function isSecret(text: string): boolean {
  const key = keyOf(text)
  const isExact = text === `${PREFIX}${key.toString('base64')}`
  return isExact && key.length >= BYTES.least && key.length <= BYTES.most
}

const keyOf = (secret: string) => Buffer.from(secret.slice(PREFIX.length), 'base64')

/** The headers of Standard Webhooks, with a signature for each secret that is valid now. `now` is in milliseconds. */
export function signedHeaders(
  { id, body }: { id: string; body: string },
  secrets: readonly WebhookSecret[],
  now: number,
): Record<string, string> {
  const timestamp = `${Math.floor(now / 1000)}`
  const signatures = secrets
    .filter(({ until }) => until === undefined || until > now)
    .map(({ secret }) => {
      const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`)
      return `v1,${digest.digest('base64')}`
    })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
