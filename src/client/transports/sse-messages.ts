import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { LONGEST } from '../bounded-text.ts'
import { failureOf, type HttpResponse, problemError } from './connection.ts'

/** The messages of an open stream, in batches as they arrive, with backpressure to the server. */
export async function* sseMessages(
  { body }: Pick<HttpResponse, 'body'>,
  signal: AbortSignal,
): AsyncGenerator<readonly EventSourceMessage[]> {
  if (!body) return
  let arrived: EventSourceMessage[] = []
  let broken: Error | undefined
  let told: MainstemError | undefined
  const parser = createParser({
    maxBufferSize: LONGEST,
    onEvent: (message) => {
      if (message.event === 'error') told = problemError(message.data)
      else arrived.push(message)
    },
    onError: (error) => {
      // Other errors are unknown fields, which clients ignore.
      if (error.type === 'max-buffer-size-exceeded') broken = error
    },
  })
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      parser.feed(value)
      if (arrived.length > 0) yield arrived
      arrived = []
      if (told) throw told
      if (broken) throw new MainstemError('protocol_error', broken.message, undefined, { cause: broken })
    }
  } catch (thrown) {
    throw signal.aborted || thrown instanceof MainstemError ? thrown : failureOf(thrown)
  } finally {
    // The connection may already be broken.
    await reader.cancel().catch((thrown: unknown) => thrown)
  }
}
