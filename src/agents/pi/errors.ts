import { codeOfStatus } from '../../model/http-status.ts'
import type { ErrorCode } from '../../model/index.ts'

/** The HTTP status that a failure of the model begins with. */
export function statusOf(message: string): number | undefined {
  const told = /^(\d{3})\b/.exec(message)?.[1]
  return told === undefined ? undefined : Number(told)
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

/** Why it failed: the status where there is one, else what the words say. */
export function codeOf(message: string): ErrorCode {
  if (/quota|billing|usage limit/i.test(message)) return 'quota_exceeded'
  const status = statusOf(message)
  if (status !== undefined) return codeOfStatus(status)
  return WORDS.find(([words]) => words.test(message))?.[1] ?? 'unknown'
}
