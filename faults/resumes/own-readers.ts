import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { MainstemClient } from '../../src/client/index.ts'
import { type Log, RETRY, type Reader, untilAnswered, type Way } from './reader.ts'

const POLL_MS = 20

/** `MainstemClient`: the entries of our own API, over server-sent events. */
export function entriesReader({ url, token }: Way): Reader {
  const client = new MainstemClient({ baseUrl: url, token, retry: RETRY })
  return reader(client, async (session, turn) => {
    const ids: string[] = []
    let text = ''
    let ends = 0
    for await (const { seq, event } of client.entries(session)) {
      ids.push(String(seq))
      if (event.type === 'text.completed') text += event.text
      if (event.type === 'turn.completed' && ++ends === turn) break
    }
    return { ids, text, ends }
  })
}

/** `session.reconnect` of JSON-RPC, from cursor to cursor. */
export function rpcReader({ url, token }: Way): Reader {
  const client = new MainstemClient({ baseUrl: url, token, retry: RETRY })
  return reader(client, async (sessionId, turn) => {
    let after = '0'
    const ids: string[] = []
    let text = ''
    let ends = 0
    while (ends < turn) {
      const body = JSON.stringify({ method: 'session.reconnect', params: { sessionId, after } })
      const page = await reconnect(url, token, body)
      if (page === undefined) continue
      for (const event of page.bufferedEvents) {
        ids.push(`${ids.length} ${JSON.stringify(event)}`)
        if (event.type === 'text') text += event.content
        if (event.type === 'result' || event.type === 'error') ends++
      }
      after = page.cursor
      if (page.bufferedEvents.length === 0) await sleep(POLL_MS)
    }
    return { ids, text, ends }
  })
}

interface Page {
  bufferedEvents: readonly { type: string; content?: string }[]
  cursor: string
}

/** Undefined if the connection broke. */
async function reconnect(url: string, token: string, body: string): Promise<Page | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/rpc`, { method: 'POST', headers, body })
    const { result, error } = (await response.json()) as { result?: Page; error?: unknown }
    if (!result) throw new RangeError(JSON.stringify(error))
    return result
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown
    return undefined
  }
}

function reader(client: MainstemClient, read: (session: string, turn: number) => Promise<Log>): Reader {
  return {
    async begin(agent, prompt) {
      const key = randomUUID()
      return (await untilAnswered(() => client.begin({ agent, prompt }, key))).id
    },
    async resume(session, prompt, turn) {
      const key = randomUUID()
      await untilAnswered(() => client.prompt(session, prompt, undefined, key))
      return read(session, turn)
    },
    read,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}
