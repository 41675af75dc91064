import type { RequestAnswer } from '../model/index.ts'
import { MainstemError } from '../model/outcome/mainstem-error.ts'
import { ClientConnection, type ConnectionOptions } from './transports/connection.ts'
import type {
  CreatedSession,
  CreateOptions,
  Cursor,
  SessionState,
  SessionSummary,
  Transport,
} from './transports/transport.ts'

/** Options of all transports over HTTP. */
export interface HttpOptions extends ConnectionOptions {
  /** The dialect of the messages; `unified` by default. Servers other than Mainstem have only their own. */
  dialect?: string
  /** Set to false to receive only the event types of the protocol's document; requests for approval are not among them. */
  extensions?: boolean
}

const SESSIONS = '/api/sessions'

/** The query that starts a stream after a cursor: by message id, or by the number of messages if it has no id. */
export function queryAfter({ id, count }: Cursor): { after?: string; offset?: string } {
  if (id !== undefined) return { after: id }
  return count > 0 ? { offset: `${count}` } : {}
}

/** Messages per page. */
const PAGE = 100

const STATES: ReadonlySet<unknown> = new Set<SessionState>(['running', 'done', 'failed', 'cancelled'])

/** The calls that all transports over HTTP share. Subclasses receive the messages. */
export abstract class Rest implements Transport {
  protected readonly connection: ClientConnection
  /** The query parameters that select the messages. */
  protected readonly view: Readonly<Record<string, string>>

  constructor({ dialect = 'unified', extensions = true, ...options }: HttpOptions = {}) {
    this.connection = new ClientConnection(options)
    this.view = { dialect, ...(!extensions && { extensions: '0' }) }
  }

  abstract connect(...args: Parameters<Transport['connect']>): ReturnType<Transport['connect']>

  async create(body: unknown, { idempotencyKey, signal }: CreateOptions = {}): Promise<CreatedSession> {
    const created = await this.connection.call(`POST ${SESSIONS}`, { body, idempotencyKey, signal })
    const turn = Number(created.headers.get('mainstem-turn') ?? 0)
    return { ...summaryOf(created.body), ...(turn > 0 && { turn }) }
  }

  async list(signal?: AbortSignal): Promise<readonly SessionSummary[]> {
    const sessions: SessionSummary[] = []
    for (let query = ''; ; ) {
      const answer = await this.connection.json(`GET ${SESSIONS}${query}`, { signal })
      sessions.push(...listIn(answer, 'sessions').map(summaryOf))
      const next = fieldOf(answer, 'next')
      if (typeof next !== 'string') return sessions
      query = `?${new URLSearchParams({ before: next })}`
    }
  }

  async state(session: string, signal?: AbortSignal): Promise<SessionState> {
    return summaryOf(await this.connection.json(`GET ${pathOf(session)}`, { signal })).state
  }

  async cancel(session: string, signal?: AbortSignal): Promise<void> {
    await this.connection.json(`POST ${pathOf(session)}/cancel`, { signal })
  }

  async answer(session: string, requestId: string, body: RequestAnswer, signal?: AbortSignal): Promise<void> {
    const path = `/v1/sessions/${encodeURIComponent(session)}/requests/${encodeURIComponent(requestId)}`
    await this.connection.json(`POST ${path}`, { body, signal })
  }

  async count(session: string, least: number, signal?: AbortSignal): Promise<number> {
    // The total needs no messages, and a small response gets through a bad connection.
    const { total } = await this.page(session, least, signal, 1)
    if (total !== undefined) return total
    for (let count = least; ; ) {
      // Without a total, read pages until one is empty.
      const { events } = await this.page(session, count, signal)
      if (events.length === 0) return count
      count += events.length
    }
  }

  protected async page(
    session: string,
    offset: number,
    signal: AbortSignal | undefined,
    limit = PAGE,
  ): Promise<{ events: readonly unknown[]; total: number | undefined }> {
    const query = new URLSearchParams({ offset: `${offset}`, limit: `${limit}`, ...this.view })
    const answer = await this.connection.json(`GET ${pathOf(session)}/events?${query}`, { signal })
    const total = fieldOf(answer, 'total')
    return { events: listIn(answer, 'events'), total: typeof total === 'number' ? total : undefined }
  }
}

function pathOf(session: string): string {
  return `${SESSIONS}/${encodeURIComponent(session)}`
}

function summaryOf(value: unknown): SessionSummary {
  const id = fieldOf(value, 'id')
  const state = fieldOf(value, 'state')
  if (typeof id === 'string' && isState(state)) return { id, state }
  throw new MainstemError('protocol_error', 'the response has no session with an id and a state')
}

function isState(value: unknown): value is SessionState {
  return STATES.has(value)
}

function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = Array.isArray(answer) ? answer : fieldOf(answer, name)
  if (Array.isArray(list)) return list
  throw new MainstemError('protocol_error', `the response has no list of ${name}`)
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
