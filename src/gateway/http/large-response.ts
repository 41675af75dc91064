import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { GatewayDeps } from '../deps.ts'

/** Characters that are encoded in one turn of the event loop. */
const PART = 256 * 1024

/** Sends large responses in parts, so that others are served between them and a slow client takes no second copy. */
export function divideLargeResponses(app: FastifyInstance, { turns }: Pick<GatewayDeps, 'turns'>): void {
  app.addHook('onSend', async ({ principal, method }, reply, payload) => {
    if (typeof payload !== 'string' || payload.length <= PART || method === 'HEAD') return payload
    reply.header('content-length', Buffer.byteLength(payload))
    return Readable.from(
      partsOf(payload, () => turns.take(principal)),
      { objectMode: false },
    )
  })
}

async function* partsOf(text: string, turn: () => Promise<void>): AsyncGenerator<Buffer> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(text.length, from + PART)
    // The halves of a character are encoded together.
    if (isFirstHalf(text.charCodeAt(to - 1)) && to < text.length) to++
    await turn()
    yield Buffer.from(text.slice(from, to))
  }
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
