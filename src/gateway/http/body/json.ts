import { MainstemError } from '../../../model/index.ts'

/** Rejects bytes that are not UTF-8, because decoding would silently change the prompt. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns whether the body could not be parsed, as opposed to an error around it. */
export function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof MainstemError && thrown.details?.unreadable === true
}

/** Parses a request body; rejects invalid JSON, lone surrogates, deep nesting and the key `__proto__`. */
export function parseJsonBody(bytes: Uint8Array, maxDepth: number): unknown {
  checkValueCount(bytes, 'body')
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

/** An empty object takes 3 bytes in JSON and 56 in memory. */
const MAX_VALUES = 1_000_000

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b]

/** Rejects JSON with more values than fit into memory, before it is parsed. */
export function checkValueCount(bytes: Uint8Array, what: string): void {
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++values > MAX_VALUES)
      throw new MainstemError('too_large', `${what}: more than ${MAX_VALUES} values`)
  }
}

/** The index of the quote that ends a string, or the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote
    while (bytes[before - 1] === BACKSLASH) before--
    if ((quote - before) % 2 === 0) return quote
  }
  return bytes.length
}

function check(value: unknown, depthLeft: number): void {
  // Half a character has no UTF-8 form, so the agent would get another text than the one that was sent.
  if (typeof value === 'string' && !value.isWellFormed())
    throw unreadable(
      'body',
      'a text has a lone surrogate (\\ud800 to \\udfff outside a pair); send both halves of the character',
    )
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0) throw unreadable('body', 'nested too deeply')
  for (const [key, child] of Object.entries(value)) {
    if (key === '__proto__') throw unreadable(key, 'the key __proto__ is refused')
    check(key, depthLeft)
    check(child, depthLeft - 1)
  }
}

function unreadable(field: string, why: string): MainstemError {
  return new MainstemError('invalid_request', `body: ${why}`, { field, unreadable: true })
}

/** Treats `null` as absent, because some clients serialise optional fields as `null`. */
export function stripNulls(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}
