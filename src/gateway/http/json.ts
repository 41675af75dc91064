import { MainstemError } from '../../model/index.ts'

/** Rejects bytes that are not UTF-8, because decoding would silently change the prompt. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns whether the body could not be parsed, as opposed to an error around it. */
export function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof MainstemError && thrown.details?.unreadable === true
}

/** Parses a request body; rejects invalid JSON, deep nesting and the key `__proto__`. */
export function parseJsonBody(bytes: Uint8Array, maxDepth: number): unknown {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    // Omits the parser's message: it quotes the body, which may contain a token.
    throw new MainstemError(
      'invalid_request',
      'body: not valid JSON',
      { field: 'body', unreadable: true },
      { cause },
    )
  }
  check(value, maxDepth)
  return value
}

function check(value: unknown, depthLeft: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0)
    throw new MainstemError('invalid_request', 'body: nested too deeply', { field: 'body', unreadable: true })
  for (const [key, child] of Object.entries(value)) {
    if (key === '__proto__') {
      throw new MainstemError('invalid_request', 'body: the key __proto__ is refused', {
        field: '__proto__',
        unreadable: true,
      })
    }
    check(child, depthLeft - 1)
  }
}
