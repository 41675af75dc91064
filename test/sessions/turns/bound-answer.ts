import { vi } from 'vitest'
import type { AnswerCommand, BoundAnswer } from '../../../src/model/index.ts'
import type { Store } from '../../../src/stores/store.ts'

/** Binds an answer to the latest request with its id, once that request is in the log. */
export async function bound(
  log: Pick<Store, 'read'>,
  session: string,
  answer: AnswerCommand,
): Promise<BoundAnswer> {
  const request = await vi.waitUntil(async () => {
    const entries = await log.read(session, 0, 10_000)
    return entries
      .map(({ event }) => event)
      .findLast((event) => event.type === 'request.opened' && event.requestId === answer.requestId)
  })
  return { ...answer, inputDigest: request.type === 'request.opened' ? request.inputDigest : '' }
}
