import * as z from 'zod'
import type { StorageCheck, StorageFailure } from '../http/storage-check.ts'
import { messageJson, type StreamFormat } from './format.ts'

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

/** A message of the server itself, on streams of sessions. */
export type NoticeMessage = ({ type: 'server.degraded' } & StorageFailure) | { type: 'server.recovered' }

const noticeOf = (failure: StorageFailure | undefined): NoticeMessage =>
  failure ? { type: 'server.degraded', ...failure } : { type: 'server.recovered' }

export const noticeJson = (failure: StorageFailure | undefined): string => messageJson(noticeOf(failure))

/** The notices of a response: messages if they were asked for, and otherwise comments where the format has them. */
export function streamNotices(
  storage: Watched,
  format: StreamFormat,
  flag: z.infer<typeof NoticesFlag>,
): Notices | undefined {
  const { comment } = format
  if (flag) return noticesOf(storage, (failure) => format.notice(noticeOf(failure)))
  return comment && noticesOf(storage, (failure) => comment(commentOf(failure)))
}

function commentOf(failure: StorageFailure | undefined): string {
  return failure ? `server.degraded ${failure.code}: ${failure.message}` : 'server.recovered'
}
