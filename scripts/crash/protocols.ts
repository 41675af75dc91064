import { WebSocket } from 'ws'

export interface Message {
  id: string
  text: string
}

/** Asks for what follows the last message. True at the end of the stream; it fails where the connection broke. */
export type Protocol = (
  url: string,
  last: string | undefined,
  take: (message: Message) => void,
) => Promise<boolean>

/** The server will not go on from where we are, whenever we ask. */
export class Refused extends Error {}

const ENDED = 1000

export function sse(session: string): Protocol {
  return (url, last, take) => {
    const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
    return readAll(fetch(`${url}/v1/sessions/${session}/events`, { headers }), '\n\n', eventOf, take)
  }
}

export function ndjson(session: string): Protocol {
  return (url, last, take) => {
    const headers = { accept: 'application/x-ndjson' }
    return readAll(fetch(pathOf(url, session, last), { headers }), '\n', entryOf, take)
  }
}

export function socket(session: string): Protocol {
  return (url, last, take) => {
    const opened = new WebSocket(pathOf(url, session, last).replace('http', 'ws'))
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
  return (url, last, take) => {
    const headers = {
      'content-type': 'application/json',
      ...(last !== undefined && { 'last-event-id': last }),
    }
    const asked = fetch(`${url}/v1/execute`, { method: 'POST', headers, body: JSON.stringify(task) })
    return readAll(asked, '\n\n', eventOf, take)
  }
}

function pathOf(url: string, session: string, last: string | undefined): string {
  return `${url}/v1/sessions/${session}/events${last === undefined ? '' : `?after=${last}`}`
}

/** What a crash cuts off ends with an error; what ends well has said all it had to say. */
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
