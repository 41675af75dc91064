import * as z from 'zod'
import type { StorageCheck, StorageFailure } from '../http/storage-check.ts'
import { messageJson, NDJSON, SSE, type StreamFormat, sseData } from './format.ts'

/** Adds notices of the server to a stream. The returned function ends them. */
export type Notices = (send: (text: string) => void) => () => void

type Watched = Pick<StorageCheck, 'failure' | 'onChange'>

/** The parameter of streams that can have messages of the server itself. */
export const NoticesFlag = z
  .literal('1')
  .optional()
  .describe(
    'send `server.degraded` and `server.recovered` as messages without an id while storage fails; without it, only server-sent events have them, as comments',
  )

/** The messages about a failure and its end, as text. */
export function noticesOf(storage: Watched, write: (failure: StorageFailure | undefined) => string): Notices {
  return (send) => {
    if (storage.failure) send(write(storage.failure))
    return storage.onChange(() => send(write(storage.failure)))
  }
}

const noticeOf = (failure: StorageFailure | undefined) =>
  failure ? { type: 'server.degraded', ...failure } : { type: 'server.recovered' }

export const noticeJson = (failure: StorageFailure | undefined): string => messageJson(noticeOf(failure))

/** The notices of a response. Comments disturb no client, so server-sent events always have some. */
export function streamNotices(
  storage: Watched,
  format: StreamFormat,
  flag: z.infer<typeof NoticesFlag>,
): Notices | undefined {
  if (format === NDJSON) return flag && noticesOf(storage, (failure) => `${noticeJson(failure)}\n`)
  if (flag && format === SSE)
    return noticesOf(storage, (failure) => {
      const message = noticeOf(failure)
      return `event: ${message.type}\n${sseData(message)}`
    })
  return noticesOf(storage, comment)
}

function comment(failure: StorageFailure | undefined): string {
  return failure ? `: server.degraded ${failure.code}: ${failure.message}\n\n` : ': server.recovered\n\n'
}
