import { randomUUID } from 'node:crypto'
import { AgentClient, type AgentEvent, type Cursor, type Transport } from '../../src/client/index.ts'
import { StdioTransport } from '../../src/client/stdio/index.ts'
import type { Random } from '../random.ts'
import { type Log, RETRY, type Reader, untilAnswered } from './reader.ts'

const START: Cursor = { count: 0 }

/** `AgentClient` over one of its transports. */
export function unifiedReader(transport: Transport, random: Random): Reader {
  let client = new AgentClient({ agentType: 'echo', transport, retry: RETRY })
  const read = async (id: string): Promise<Log> => {
    const session = client.session(id)
    const events: AgentEvent[] = []
    // The first loop stops at a random event; the second continues from its cursor.
    const stopAt = Math.floor(random() * 500)
    let cursor = START
    for await (const { event, cursor: after } of session.read()) {
      events.push(event)
      cursor = after
      if (events.length > stopAt) break
    }
    for await (const { event } of session.read({ after: cursor })) events.push(event)
    return logOf(events)
  }
  return {
    async begin(agentType, prompt) {
      client = new AgentClient({ agentType, transport, retry: RETRY })
      const idempotencyKey = randomUUID()
      return (await untilAnswered(() => client.createSession({ prompt, idempotencyKey }))).id
    },
    async resume(sessionId, prompt) {
      const idempotencyKey = randomUUID()
      await untilAnswered(() => client.resumeSession({ sessionId, prompt, idempotencyKey, after: START }))
      return read(sessionId)
    },
    read,
    async [Symbol.asyncDispose]() {
      if (transport instanceof StdioTransport) await transport[Symbol.asyncDispose]()
    },
  }
}

function logOf(events: readonly AgentEvent[]): Log {
  return {
    ids: events.map(({ id }) => id),
    text: events.map((event) => (event.type === 'textChunk' ? event.content : '')).join(''),
    ends: events.filter(({ type }) => type === 'turnCompleted' || type === 'turnFailed').length,
  }
}
