import { WebSocket } from 'ws'

export interface Message {
  id: string
  text: string
}

/** One connection: where to, as which principal, and what cuts it. */
export interface Connection {
  url: string
  headers: Readonly<Record<string, string>>
  signal: AbortSignal
  /** The id of the last message that was received. */
  last: string | undefined
  take(message: Message): void
}

/** Asks for what follows the last message. True at the end of the stream; it fails where the connection broke. */
export type Protocol = (connection: Connection) => Promise<boolean>

/** The server will not continue from where we are, whenever we ask. */
export class Refused extends Error {}

const ENDED = 1000

export function sse(session: string): Protocol {
  return ({ url, headers, last, ...rest }) => {
    const accept = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
    const asked = fetch(`${url}/v1/sessions/${session}/events`, {
      headers: { ...headers, ...accept },
      signal: rest.signal,
    })
    return readAll(asked, '\n\n', eventOf, rest.take)
  }
}

export function ndjson(session: string): Protocol {
  return ({ url, headers, last, signal, take }) => {
    const accept = { ...headers, accept: 'application/x-ndjson' }
    const asked = fetch(pathOf(url, session, last), { headers: accept, signal })
    return readAll(asked, '\n', entryOf, take)
  }
}

/** Page after page, until the session's last entry. */
export function polling(session: string): Protocol {
  return async ({ url, headers, last, signal, take }) => {
    const accept = { ...headers, accept: 'application/json' }
    for (let after = last ?? '0'; ; ) {
      const page = `${pathOf(url, session, after)}&limit=50&wait=1`
      const response = await fetch(page, { headers: accept, signal })
      if (response.status >= 500) return false
      if (response.status >= 400) throw new Refused(await response.text())
      const { entries } = (await response.json()) as { entries: { seq: number; event: { type: string } }[] }
      for (const entry of entries) take({ id: String(entry.seq), text: JSON.stringify(entry) })
      if (entries.at(-1)?.event.type === 'session.ended') return true
      after = String(entries.at(-1)?.seq ?? after)
    }
  }
}

export function socket(session: string): Protocol {
  return ({ url, headers, last, signal, take }) => {
    const opened = new WebSocket(pathOf(url, session, last).replace('http', 'ws'), {
      headers: { ...headers },
    })
    signal.addEventListener('abort', () => opened.terminate(), { once: true })
    return new Promise((resolve, reject) => {
      opened.on('message', (data) => take(entryOf(String(data))))
      opened.on('close', (code) => resolve(code === ENDED))
      opened.on('unexpected-response', (_, { statusCode = 500 }) => {
        reject(statusCode < 500 ? new Refused(`status ${statusCode}`) : new Error('not now'))
      })
      opened.on('error', reject)
    })
  }
}

/** A task that is run once, however often it is asked for. */
export function execute(task: Record<string, unknown>): Protocol {
  return ({ url, headers, last, signal, take }) => {
    const sent = {
      ...headers,
      'content-type': 'application/json',
      ...(last !== undefined && { 'last-event-id': last }),
    }
    const body = JSON.stringify(task)
    const asked = fetch(`${url}/v1/execute`, { method: 'POST', headers: sent, body, signal })
    return readAll(asked, '\n\n', eventOf, take)
  }
}

/** The events of all sessions of a principal. It has no end; a cursor of an earlier process is refused. */
export function allEvents(): Protocol {
  return ({ url, headers, last, signal, take }) => {
    const accept = { ...headers, accept: 'text/event-stream' }
    const resumed = last === undefined ? accept : { ...accept, 'last-event-id': last }
    return readAll(fetch(`${url}/v1/events`, { headers: resumed, signal }), '\n\n', eventOf, take)
  }
}

function pathOf(url: string, session: string, last: string | undefined): string {
  return `${url}/v1/sessions/${session}/events${last === undefined ? '' : `?after=${last}`}`
}

/** A stream that a crash cuts off ends with an error; one that ends well is complete. */
async function readAll(
  asked: Promise<Response>,
  between: string,
  parse: (text: string) => Message | undefined,
  take: (message: Message) => void,
): Promise<boolean> {
  const response = await asked
  if (response.status >= 500) return false
  if (response.status >= 400) throw new Refused(await response.text())
  let rest = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + chunk).split(between)
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const message = part === '' ? undefined : parse(part)
      if (message) take(message)
    }
  }
  return true
}

function eventOf(block: string): Message | undefined {
  const [, id, text] = /^id: (.*)\ndata: (.*)$/.exec(block) ?? []
  return id === undefined || text === undefined ? undefined : { id, text }
}

function entryOf(text: string): Message {
  return { id: String(JSON.parse(text).seq), text }
}
