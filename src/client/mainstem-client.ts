import type { RequestOpened } from '../model/events/request.ts'
import type {
  Entry,
  ErrorCode,
  Image,
  LaunchKind,
  Policy,
  SessionOptions,
  SessionRecord,
} from '../model/index.ts'
import { MainstemError } from '../model/mainstem-error.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { fieldOf } from './rest.ts'
import { type RetryOptions, resume } from './resume.ts'
import { sseMessages } from './sse-messages.ts'
import { systemTimers, type Timers } from './timers.ts'
import type { RequestAnswer } from './transport.ts'

export interface MainstemClientOptions extends ConnectionOptions {
  retry?: RetryOptions
  timers?: Timers
  random?: () => number
}

export interface BeginSession {
  agent: string
  launch?: LaunchKind
  cwd?: string
  policy?: Partial<Policy>
  options?: SessionOptions
  /** The agent's own id of a conversation to go on with. */
  resume?: string
  prompt?: string
}

export interface BegunSession extends Pick<SessionRecord, 'id' | 'agent' | 'launch' | 'cwd' | 'createdAt'> {
  /** The number of the first turn, if there was a prompt. */
  turn?: number
}

export interface SessionQuery {
  status?: SessionRecord['status']
  asking?: boolean
  before?: string
  limit?: number
}

export interface SessionPage {
  /** Newest first. */
  sessions: readonly SessionRecord[]
  /** `before` for the page after this one. */
  next?: string
}

/** What waits for an answer, and where. */
export interface OpenRequest
  extends Pick<SessionRecord, 'agent' | 'cwd' | 'title'>,
    Pick<Entry, 'seq' | 'turn' | 'at'> {
  session: string
  request: RequestOpened
}

export interface EntriesOptions {
  /** The last `seq` you have. */
  after?: number
  /** Stops reading, and nothing else. */
  signal?: AbortSignal
}

const NEVER = new AbortController().signal

/** What may be better in a moment. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'connection_failed',
  'timeout',
  'overloaded',
  'draining',
  'storage_failed',
])

/** A Mainstem server by its own API. Whatever it refuses is a `MainstemError` with the code it gave. */
export class MainstemClient {
  readonly #connection: Connection
  readonly #options: MainstemClientOptions

  constructor(options: MainstemClientOptions = {}) {
    this.#connection = new Connection(options)
    this.#options = options
  }

  /** With a key it is safe to call again: the same key and request give the same session. */
  async begin(body: BeginSession, idempotencyKey?: string): Promise<BegunSession> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    return shaped<BegunSession>(await this.#connection.json('POST /v1/sessions', { body, headers }), 'id')
  }

  async sessions({ asking, ...query }: SessionQuery = {}): Promise<SessionPage> {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, `${value}`)
    if (asking !== undefined) search.set('asking', asking ? '1' : '0')
    return shaped<SessionPage>(await this.#connection.json(`GET /v1/sessions?${search}`), 'sessions')
  }

  async session(id: string, signal?: AbortSignal): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`GET ${pathOf(id)}`, { signal }))
  }

  /** Sends a prompt and gives the number of its turn, once it is in the log. */
  async prompt(id: string, prompt: string, images?: readonly Image[]): Promise<number> {
    const body = { prompt, ...(images && { images }) }
    const answer = await this.#connection.json(`POST ${pathOf(id)}/turns`, { body })
    return shaped<{ turn: number }>(answer, 'turn').turn
  }

  /** Stops the turn that runs, and settles when it has its end. */
  async interrupt(id: string): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`POST ${pathOf(id)}/interrupt`))
  }

  /** Ends the session; its log stays. */
  async end(id: string): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`POST ${pathOf(id)}/end`))
  }

  /** Ends the session, and removes everything of it. */
  async delete(id: string): Promise<void> {
    await this.#connection.json(`DELETE ${pathOf(id)}`)
  }

  /** What waits for an answer in all sessions, oldest first. */
  async requests(): Promise<readonly OpenRequest[]> {
    const answer = await this.#connection.json('GET /v1/requests')
    return shaped<{ requests: OpenRequest[] }>(answer, 'requests').requests
  }

  /** Answers a request; the first decision wins, and whoever comes later gets a `conflict`. */
  async answer(id: string, requestId: string, body: RequestAnswer): Promise<SessionRecord> {
    const route = `POST ${pathOf(id)}/requests/${encodeURIComponent(requestId)}`
    return recordOf(await this.#connection.json(route, { body }))
  }

  /** The log from a cursor on, each entry once, over as many connections as it takes, until the session has ended. */
  entries(id: string, { after = 0, signal = NEVER }: EntriesOptions = {}): AsyncGenerator<Entry, void, void> {
    const { timers = systemTimers, random = Math.random, retry = {} } = this.#options
    return resume<Entry, number>(
      {
        connect: (from, connected) => this.#stream(id, from, connected),
        placeOf: ({ seq }) => seq,
        mayBeLast: ({ event }) => event.type === 'session.ended',
        standing: async (seq) => {
          const { head, status } = await this.session(id, signal)
          if (head > seq) return 'behind'
          return status === 'ended' ? 'over' : 'waiting'
        },
        passes: (thrown) => thrown instanceof MainstemError && PASSING.has(thrown.code),
      },
      after,
      { timers, random, retry, signal },
    )
  }

  async *#stream(id: string, after: number, signal: AbortSignal): AsyncGenerator<readonly Entry[]> {
    const response = await this.#connection.open(`GET ${pathOf(id)}/events?after=${after}`, {
      headers: { accept: 'text/event-stream' },
      signal,
    })
    for await (const messages of sseMessages(response, signal))
      yield messages.map(({ data }) => entryOf(data))
  }
}

function pathOf(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`
}

function recordOf(answer: unknown): SessionRecord {
  return shaped<SessionRecord>(answer, 'id', 'status', 'head')
}

function entryOf(text: string): Entry {
  const value: unknown = JSON.parse(text)
  return shaped<Entry>(value, 'seq', 'session', 'event')
}

/** What a server of ours answers has the shape it promises; what is no such answer is told by the fields it lacks. */
function shaped<Shape extends object>(value: unknown, ...names: (keyof Shape & string)[]): Shape {
  if (isShaped<Shape>(value, names)) return value
  throw new MainstemError('protocol_error', 'the server did not answer as a Mainstem server does')
}

function isShaped<Shape>(value: unknown, names: readonly string[]): value is Shape {
  return names.every((name) => fieldOf(value, name) !== undefined)
}
