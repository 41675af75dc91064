import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Actor, type Tongue } from './actor.ts'
import { nothing } from './codex.ts'
import type { Ending, History } from './history.ts'
import { lineWriter, readAll } from './lines.ts'
import { isRecord, type Native, textAt } from './native.ts'
import { OpencodeStore } from './opencode-store.ts'

const time = () => ({ created: Date.now() })
const TOKENS = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }

/** `opencode serve`: commands over HTTP, events over SSE. */
export async function opencodeLive(history: History): Promise<void> {
  const server = new Server(history)
  const http = createServer((request, response) => void server.serve(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  process.stdout.write(`opencode server listening on http://127.0.0.1:${port}\n`)
  await new Promise(nothing)
}

class Server {
  readonly #actor: Actor
  readonly #asked = new Map<string, string>()
  #session: string = `ses_${randomUUID()}`
  #stream: ServerResponse | undefined
  /** The answer to each prompt: a late or repeated end must name its own. */
  readonly #answers = new Map<string, string>()
  #message = ''
  #part = ''
  /** What it keeps: complete parts, no deltas. */
  readonly #stored = new OpencodeStore()

  constructor(history: History) {
    this.#actor = new Actor(history, this.#tongue())
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    if (url === '/event') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      this.#stream = response
      return this.#emit('server.connected', {})
    }
    const body: unknown = JSON.parse((await request.setEncoding('utf8').toArray()).join('') || '{}')
    const [status, answer] = this.#route(method, url, isRecord(body) ? body : {})
    response.writeHead(status).end(answer === undefined ? '' : JSON.stringify(answer))
  }

  #route(method: string, url: string, body: Native): [status: number, answer?: unknown] {
    const [, kind, id = '', action] = url.split('/')
    const stored = method === 'GET' ? this.#stored.read(url) : undefined
    if (stored) return [200, stored]
    if (kind === 'session' && action === undefined) {
      if (method === 'GET') this.#session = id
      return [200, { id: this.#session, title: 't', version: '1.18.33' }]
    }
    if (action === 'prompt_async') {
      void this.#actor.prompt(textAt(body, 'parts', 0, 'text'))
      return [204]
    }
    if (action === 'abort') {
      this.#actor.interrupt()
      return [200, true]
    }
    if (action === 'reply') {
      const call = this.#asked.get(id) ?? ''
      const reply = textAt(body, 'reply')
      this.#emit('permission.replied', { sessionID: this.#session, requestID: id, reply })
      this.#actor.answer(call, reply === 'reject' ? 'deny' : 'allow')
      return [200, true]
    }
    return [404, { name: 'NotFoundError', data: { message: url } }]
  }

  #emit(type: string, properties: Native): void {
    this.#stored.add(type, properties)
    const event = { id: `evt_${randomUUID()}`, type, properties }
    this.#stream?.write(`data: ${JSON.stringify(event)}\n\n`)
  }

  #say(type: string, properties: Native): void {
    this.#emit(type, { sessionID: this.#session, ...properties })
  }

  #info(more: Native): void {
    const info = { id: this.#message, sessionID: this.#session, role: 'assistant', ...more }
    this.#say('message.updated', { info })
  }

  #show(part: Native): void {
    const of = { messageID: this.#message, sessionID: this.#session }
    this.#say('message.part.updated', { part: { ...of, ...part } })
  }

  #tongue(): Tongue {
    const call = (name: string, state: Native) =>
      this.#show({ id: `prt_${name}`, type: 'tool', tool: 'bash', callID: name, state })
    return {
      begin: (name, text) => this.#begin(name, text),
      openMessage: () => {
        this.#part = `prt_${randomUUID()}`
        this.#show({ id: this.#part, type: 'text', text: '', time: { start: Date.now() } })
      },
      piece: (_, delta) =>
        this.#say('message.part.delta', {
          messageID: this.#message,
          partID: this.#part,
          field: 'text',
          delta,
        }),
      closeMessage: (_, text) => {
        const now = Date.now()
        this.#show({ id: this.#part, type: 'text', text, time: { start: now, end: now } })
      },
      ask: (_, name) => {
        const input = { command: name }
        call(name, { status: 'running', input, time: { start: Date.now() } })
        const id = `per_${randomUUID()}`
        this.#asked.set(id, name)
        const tool = { messageID: this.#message, callID: name }
        this.#say('permission.asked', {
          id,
          permission: 'bash',
          patterns: [name],
          metadata: input,
          always: [],
          tool,
        })
      },
      tool: (_, name, ran) => {
        const past = { input: { command: name }, time: { start: Date.now(), end: Date.now() } }
        const failed = {
          status: 'error',
          error: 'The user rejected permission to use this specific tool call.',
        }
        call(
          name,
          ran ? { status: 'completed', output: name, metadata: {}, ...past } : { ...failed, ...past },
        )
      },
      end: (name, how) => this.#end(this.#answers.get(name) ?? '', how),
    }
  }

  #begin(name: string, text: string): void {
    const id = `msg_${randomUUID()}`
    this.#say('message.updated', { info: { id, role: 'user', sessionID: this.#session, time: time() } })
    const part = {
      id: `prt_${randomUUID()}`,
      messageID: id,
      sessionID: this.#session,
      type: 'text',
      text,
    }
    this.#say('message.part.updated', { part })
    this.#say('session.status', { status: { type: 'busy' } })
    this.#message = `msg_${randomUUID()}`
    this.#answers.set(name, this.#message)
    this.#info({ parentID: id, time: time() })
    this.#show({ id: `prt_${randomUUID()}`, type: 'step-start' })
  }

  #end(id: string, how: Ending): void {
    const now = Date.now()
    const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } }
    if (how === 'interrupted') {
      this.#say('session.error', { error })
      this.#idle()
      this.#info({ id, error, time: { created: now, completed: now } })
    } else {
      const finish = { type: 'step-finish', reason: 'stop', cost: 0, tokens: TOKENS }
      this.#show({ id: `prt_${randomUUID()}`, messageID: id, ...finish })
      this.#info({ id, finish: 'stop', time: { created: now, completed: now } })
    }
    this.#idle()
  }

  #idle(): void {
    this.#say('session.status', { status: { type: 'idle' } })
    this.#say('session.idle', {})
  }
}

/** `opencode run --format=json`: whole parts, then the exit. */
export async function opencodeOnce(history: History, argv: readonly string[]): Promise<void> {
  const write = lineWriter(history)
  const sessionID = argv.find((flag) => flag.startsWith('--session='))?.slice(10) ?? `ses_${randomUUID()}`
  const messageID = `msg_${randomUUID()}`
  const say = (type: string, part: Native) => {
    const of = { id: `prt_${randomUUID()}`, messageID, sessionID }
    write({ type, timestamp: Date.now(), sessionID, part: { ...of, ...part } })
  }
  await new Actor(history, {
    begin: () => say('step_start', { type: 'step-start' }),
    openMessage: nothing,
    piece: nothing,
    closeMessage: (_, text) => say('text', { type: 'text', text }),
    tool: nothing,
    end: (_, how) =>
      how === 'done' && say('step_finish', { type: 'step-finish', reason: 'stop', cost: 0, tokens: TOKENS }),
  }).prompt(await readAll())
}
