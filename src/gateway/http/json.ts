import { MainstemError } from '../../model/index.ts'

/** Bytes that are not UTF-8 are refused: a task must not be changed on its way in. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Was it the body that could not be read, and not something around it? */
export function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof MainstemError && thrown.details?.unreadable === true
}

/** A request body, refused when it is not JSON, too deep, or carries the one key that can change an object's nature. */
export function parseJsonBody(bytes: Uint8Array, maxDepth: number): unknown {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    // Without the parser's own words: they quote the body, and the body may hold a token.
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
