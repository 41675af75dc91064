import type { AgentErrorType } from './agent-error.ts'
import { isErrorCode, STATUSES, TYPES } from './error-codes.ts'
import { typeOfName } from './native-errors.ts'

/** Error codes of the operating system and of `fetch`. */
const SYSTEM: ReadonlyMap<unknown, AgentErrorType> = new Map([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'ENOENT'].map(failed),
  ...['EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_SOCKET'].map(failed),
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['EACCES', 'permissionDenied'],
  ['EPERM', 'permissionDenied'],
])

function failed(code: string): [string, AgentErrorType] {
  return [code, 'connectionFailed']
}

/** Agents report most failures as text only. The first pattern that matches decides. */
const WORDS: readonly (readonly [RegExp, AgentErrorType])[] = [
  [/\b401\b|unauthori[sz]ed|authenticat|api key|not logged in|token could not be/i, 'authenticationFailed'],
  [/\b403\b|forbidden|permission denied|not permitted/i, 'permissionDenied'],
  [/(session|thread|conversation)\b.*not found|no (rollout|conversation|session) found/i, 'sessionNotFound'],
  [/tim(ed|e) ?out|deadline exceeded|\b(408|504)\b/i, 'timeout'],
  [/\b(429|500|529)\b|rate.?limit|overloaded|too many requests|temporarily unavailable/i, 'connectionFailed'],
  [/usage limit|quota|insufficient credit|credit balance|billing/i, 'permissionDenied'],
  [/ECONN|ENOTFOUND|EPIPE|fetch failed|socket hang up|\b50[23]\b/, 'connectionFailed'],
  [/(stream|server) disconnected|connection (refused|failed|reset|lost|closed)/i, 'connectionFailed'],
  [/(tool|command)( execution)? failed|sandbox (error|denied)/i, 'toolExecutionFailed'],
  [/invalid.chunk|unexpected token|in JSON at|malformed|\b(400|413|422)\b/i, 'protocolError'],
  [
    /context (window|length)|prompt is too long|(unknown|no such|not a valid|does not exist).*model|model\b.*not found/i,
    'protocolError',
  ],
]

/** Fields that contain the actual error, in errors of platforms and events of agents. */
const INNER = ['error', 'cause', 'payload'] as const

/** Deeper than any platform nests its causes. */
const MAX_DEPTH = 5

/** The kind of a failure, by its code or status, then by the error it wraps, then by its text. */
export function typeOf(native: unknown, depth = 0): AgentErrorType {
  const value = parsed(native)
  const known = byCode(value)
  if (known) return known
  for (const name of depth < MAX_DEPTH ? INNER : []) {
    const inner = fieldOf(value, name)
    const type = inner === undefined ? 'unknown' : typeOf(inner, depth + 1)
    if (type !== 'unknown') return type
  }
  const named = NAMING.map((name) => typeOfName(nameIn(fieldOf(value, name)))).find(
    (type) => type !== undefined,
  )
  if (named) return named
  const words = [fieldOf(value, 'code'), fieldOf(value, 'type'), messageOf(value)].join(' ')
  const [, matched] = WORDS.find(([pattern]) => pattern.test(words)) ?? []
  // `fetch` throws a TypeError if the server cannot be reached or a body is cut off.
  return matched ?? (value instanceof TypeError ? 'connectionFailed' : 'unknown')
}

/** Fields with the agent's own name of an error. */
const NAMING = [
  'codexErrorInfo',
  'codex_error_info',
  'code',
  'type',
  'subtype',
  'status',
  'reason',
  'name',
] as const

/** Codex puts the name of an error with details in the key of an object. */
function nameIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.keys(value)[0]
}

function byCode(value: unknown): AgentErrorType | undefined {
  const code = fieldOf(value, 'code')
  const own = snakeCase(code)
  // The code `unknown` says nothing, so the text decides.
  if (isErrorCode(own)) return own === 'unknown' ? undefined : TYPES[own]
  const name = fieldOf(value, 'name')
  if (name === 'TimeoutError') return 'timeout'
  if (name === 'SyntaxError') return 'protocolError'
  const status = [value, fieldOf(value, 'status'), fieldOf(value, 'statusCode'), code].find(isStatus)
  const meant = status === undefined ? undefined : STATUSES.get(status)
  return SYSTEM.get(code) ?? (meant && TYPES[meant])
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && STATUSES.has(value)
}

/** Events of the unified protocol have the same codes in camel case. */
function snakeCase(code: unknown): unknown {
  return typeof code === 'string'
    ? code.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : undefined
}

/** Parses a line of an agent. */
function parsed(native: unknown): unknown {
  if (typeof native !== 'string' || !native.startsWith('{')) return native
  try {
    return JSON.parse(native)
  } catch {
    return native
  }
}

/** The message of an error, at any depth. */
export function messageOf(native: unknown): string {
  return sentenceIn(parsed(native), 0) ?? textOf(native)
}

function sentenceIn(value: unknown, depth: number): string | undefined {
  for (const name of ['message', 'detail', 'error']) {
    const text = fieldOf(value, name)
    if (typeof text === 'string' && text !== '') return text
  }
  if (depth >= MAX_DEPTH) return undefined
  return INNER.map((name) => fieldOf(value, name))
    .filter((inner) => typeof inner === 'object')
    .map((inner) => sentenceIn(inner, depth + 1))
    .find((text) => text !== undefined)
}

export function textOf(native: unknown): string {
  if (native instanceof Error) return `${native.name}: ${native.message}`
  return typeof native === 'string' ? native : (JSON.stringify(native) ?? String(native))
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
