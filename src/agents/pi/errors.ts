import type { ErrorCode } from '../../model/index.ts'
import { codeOfStatus } from '../../model/outcome/errors.ts'

/** The HTTP status at the start of a model failure. */
export function statusOf(message: string): number | undefined {
  const status = /^(\d{3})\b/.exec(message)?.[1]
  return status === undefined ? undefined : Number(status)
}

const WORDS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/no api key found|authentication failed|\/login/i, 'authentication_failed'],
  [/no session found|session found in different project/i, 'session_not_found'],
  [/unknown option/i, 'unsupported_option'],
  [/already processing|compaction is in progress/i, 'conflict'],
  [/model .*not found/i, 'invalid_request'],
  [
    /overloaded|terminated|stream ended|connection|fetch failed|socket|network|timed? ?out/i,
    'connection_failed',
  ],
  [/could not parse/i, 'connection_failed'],
]

/** The error code: from the status if there is one, otherwise from the message. */
export function codeOf(message: string): ErrorCode {
  if (/quota|billing|usage limit/i.test(message)) return 'quota_exceeded'
  const status = statusOf(message)
  if (status !== undefined) return codeOfStatus(status)
  return WORDS.find(([words]) => words.test(message))?.[1] ?? 'unknown'
}
