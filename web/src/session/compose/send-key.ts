import { useRef } from 'react'

interface SendKey {
  /** The key of a prompt: the same one for the same content, until it was sent. */
  of(...content: readonly unknown[]): string
  sent(): void
}

/**
 * The idempotency key of a prompt. Sending it again after a lost response is answered with the same turn; a changed
 * prompt is another request, which needs another key.
 */
export function useSendKey(): SendKey {
  const last = useRef<{ content: readonly unknown[]; key: string }>(undefined)
  return {
    of(...content) {
      const known = last.current
      if (known && content.every((one, at) => one === known.content[at])) return known.key
      last.current = { content, key: crypto.randomUUID() }
      return last.current.key
    },
    sent() {
      last.current = undefined
    },
  }
}
