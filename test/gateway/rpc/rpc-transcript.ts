import { expect } from 'vitest'
import type { TestGateway } from '../start.ts'
import type { StreamReader } from '../streams/sse.ts'
import { open, rpc, told } from './rpc.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** The calls of one client and their answers, without what differs from run to run. */
export class Transcript {
  readonly #server: TestGateway
  readonly #session: string
  readonly #dropping = new Map<StreamReader, AbortController>()
  readonly #lines: string[] = []

  static async begin(server: TestGateway, params: { cli_type: string; mode: string }): Promise<Transcript> {
    const { result } = await rpc(server, 'session.create', { path: server.root, ...params })
    const transcript = new Transcript(server, String(Object(result).sessionId))
    transcript.#add('>', 'session.create', params)
    transcript.#add('<', result)
    return transcript
  }

  private constructor(server: TestGateway, session: string) {
    this.#server = server
    this.#session = session
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  note(text: string): void {
    this.#lines.push('', `# ${text}`)
  }

  async call(method: string, params: object = {}, sessionId = this.#session): Promise<void> {
    const own = method === 'session.list' ? params : { sessionId, ...params }
    const { result, error } = await rpc(this.#server, method, own)
    this.#add('>', method, params)
    this.#add('<', error ? { error } : steady(Object(result)))
  }

  /** A whole exchange. */
  async send(message: string): Promise<void> {
    await this.close(await this.open(message))
  }

  async open(message: string): Promise<StreamReader> {
    const dropping = new AbortController()
    this.#add('>', 'session.send', { message })
    const stream = await open(this.#server, this.#session, message, { signal: dropping.signal })
    this.#dropping.set(stream, dropping)
    return stream
  }

  /** Reads a stream to its end. */
  async close(stream: StreamReader): Promise<void> {
    // How a text is cut into pieces depends on the machine.
    const messages = told(await stream.whole()).filter((message) => Object(message).type !== 'partial')
    for (const message of messages) this.#add('<', message)
  }

  async drop(stream: StreamReader): Promise<void> {
    this.#dropping.get(stream)?.abort()
    this.#lines.push('# the connection is gone')
    const stats = () => rpc(this.#server, 'session.queue_stats', { sessionId: this.#session })
    await expect.poll(async () => Object((await stats()).result).clientConnected, WAIT).toBe(false)
  }

  async end(): Promise<void> {
    this.note('the session is destroyed, and one that never was')
    await this.call('session.destroy')
    await this.call('session.list')
    await this.call('session.destroy', {}, '00000000-0000-4000-8000-000000000000')
  }

  #add(direction: '>' | '<', ...parts: unknown[]): void {
    const text = parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' ')
    const plain = text
      .replaceAll(this.#session, '<session>')
      .replaceAll(this.#server.root, '<root>')
      .replaceAll(UUID, '<uuid>')
      .replaceAll(TIME, '<time>')
    this.#lines.push(`${direction} ${plain}`)
  }
}

/** Without pieces of text and their number: how a text is cut depends on the machine. */
function steady({ bufferedEvents, cursor, responsePending, ...rest }: Record<string, unknown>): object {
  const events = Array.isArray(bufferedEvents) && bufferedEvents.filter(({ type }) => type !== 'partial')
  return {
    ...rest,
    ...(events && { bufferedEvents: events, cursor: typeof cursor }),
    ...(responsePending !== undefined && { responsePending: responsePending === 0 ? 0 : 'some' }),
  }
}

const WAIT = { timeout: 10_000 }
