import type { Applied, Coverage, Entry, Image, RequestAnswer, SessionRecord } from '../model/index.ts'
import { MainstemError } from '../model/outcome/mainstem-error.ts'
import { AccessClient } from './access-client.ts'
import type { AuditPage, AuditSearch } from './audit-types.ts'
import { boundedText, linesIn } from './bounded-text.ts'
import { itemStream, StreamWatch } from './item-stream.ts'
import type {
  BeginSession,
  BegunSession,
  EntriesOptions,
  EntryPage,
  FramePage,
  FrameQuery,
  HandOver,
  ImportedSession,
  LiveEntry,
  LiveOptions,
  MainstemClientOptions,
  ModeChange,
  OpenRequest,
  PageQuery,
  SessionPage,
  SessionQuery,
} from './mainstem-types.ts'
import { flagOf, pathOf, searchOf } from './paths.ts'
import { type ResumeDeps, resume } from './resume.ts'
import type { FoundFileNames, SearchResult } from './search-types.ts'
import type { AgentInfo, ServerInfo, ServerNode, SignIn, UsageQuery, UsageReport } from './server-types.ts'
import { begunOf, changedOf, entryOf, liveOf, recordOf, shaped, turnOf } from './shaped.ts'
import { systemTimers } from './timers.ts'
import { ClientConnection, isTransient } from './transports/connection.ts'
import { WebhookClient } from './webhook-client.ts'

type Keys = BeginSession['keys']
const NEVER = new AbortController().signal

/** A client of the HTTP API of a Mainstem server. Rejects with a `MainstemError` that has the code of the server. */
export class MainstemClient extends AccessClient {
  readonly #connection: ClientConnection
  readonly #options: MainstemClientOptions
  /** Calls to others when a turn ends, or a request is opened or resolved. */
  readonly webhooks: WebhookClient

  constructor(options: MainstemClientOptions = {}) {
    const connection = new ClientConnection(options)
    super(connection)
    this.#connection = connection
    this.webhooks = new WebhookClient(connection)
    this.#options = options
  }

  /** Starts a session. Pass the same key again to get the same session. */
  async begin(body: BeginSession, idempotencyKey?: string): Promise<BegunSession> {
    return begunOf(await this.#connection.json('POST /v1/sessions', { body, idempotencyKey }))
  }

  /** The server, and the principal of this client. */
  async server(): Promise<ServerInfo> {
    return shaped<ServerInfo>(await this.#connection.json('GET /v1/server'), 'version', 'principal')
  }

  /** Exchanges a ticket or a token for a cookie. Only browsers need it; other clients send their token. */
  async signIn(body: SignIn): Promise<void> {
    await this.#connection.json('POST /v1/sign-in', { body })
  }

  /** Removes the cookie of this browser. */
  async signOut(): Promise<void> {
    await this.#connection.json('POST /v1/sign-out')
  }

  /** Lists all agents of the server, whether each is ready, and the command that fixes it if not. */
  async agents(): Promise<readonly AgentInfo[]> {
    return shaped<{ agents: AgentInfo[] }>(await this.#connection.json('GET /v1/agents'), 'agents').agents
  }

  /** Lists the servers that share the store, by name. Empty if the server has its store to itself. */
  async nodes(): Promise<readonly ServerNode[]> {
    return shaped<{ nodes: ServerNode[] }>(await this.#connection.json('GET /v1/nodes'), 'nodes').nodes
  }

  /** Tokens and cost of this principal, by agent and by day. */
  async usage({ all, ...days }: UsageQuery = {}): Promise<UsageReport> {
    const search = searchOf({ ...days, ...(all && { all: '1' }) })
    const report = await this.#connection.json(`GET /v1/usage?${search}`)
    return shaped<UsageReport>(report, 'total', 'agents', 'models', 'principals', 'days', 'rows')
  }

  /** Who did what, in pages, the newest first. Refused with `forbidden` unless this client is an operator. */
  async audit(query: AuditSearch = {}): Promise<AuditPage> {
    return shaped<AuditPage>(
      await this.#connection.json(`GET /v1/audit?${searchOf({ ...query })}`),
      'records',
    )
  }

  /** Lists the sessions of this principal, newest first, in pages. */
  async sessions({ asking, queued, failed, ...query }: SessionQuery = {}): Promise<SessionPage> {
    const flags = { asking: flagOf(asking), queued: flagOf(queued), failed: flagOf(failed) }
    const search = searchOf({ ...query, ...flags })
    return shaped<SessionPage>(await this.#connection.json(`GET /v1/sessions?${search}`), 'sessions')
  }

  /** The current state of a session. */
  async session(id: string, signal?: AbortSignal): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`GET ${pathOf(id)}`, { signal }))
  }

  /**
   * Sends a prompt. Resolves with the number of its turn once the prompt is in the log. Pass the same key again after a
   * lost response to get the same turn. `keys` replaces those of the session; a new process of the agent gets them.
   */
  prompt = (id: string, prompt: string, images?: readonly Image[], key?: string, keys?: Keys) =>
    this.#turn(id, 'turns', { prompt, images, keys }, key)
  /** Replaces the conversation of a session by a summary. Resolves with the number of the turn. */
  compact = (id: string, keys?: Keys): Promise<number> => this.#turn(id, 'compact', { keys })
  /** Has the agent review the uncommitted changes. Resolves with the number of the turn. */
  review = (id: string, keys?: Keys): Promise<number> => this.#turn(id, 'review', { keys })
  /** Has the agent work on a goal until it is reached. Resolves with the number of the first turn. */
  goal = (id: string, goal: string, keys?: Keys): Promise<number> => this.#turn(id, 'goal', { goal, keys })
  /** Restores the files as they were before `turn`. Resolves with the number of the turn that does so. */
  rewind = (id: string, turn: number, keys?: Keys): Promise<number> =>
    this.#turn(id, 'rewind', { turn, keys })

  async #turn(id: string, command: string, body: object, idempotencyKey?: string): Promise<number> {
    return turnOf(await this.#connection.json(`POST ${pathOf(id)}/${command}`, { body, idempotencyKey }))
  }

  /** Removes a prompt from the queue. Fails with `conflict` if its turn has begun. */
  async unqueue(id: string, turn: number): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`DELETE ${pathOf(id)}/turns/${turn}`))
  }

  /** Finds files below a working directory by words in their paths, the best match first. */
  async files(cwd: string, q: string, limit?: number, signal?: AbortSignal): Promise<FoundFileNames> {
    const route = `GET /v1/files?${searchOf({ cwd, q, limit })}`
    return shaped<FoundFileNames>(await this.#connection.json(route, { signal }), 'files', 'complete')
  }

  /** Creates a session that continues a copy of this one's conversation, with the same settings. */
  async fork(id: string, body: { prompt?: string; name?: string; keys?: Keys } = {}): Promise<BegunSession> {
    return begunOf(await this.#connection.json(`POST ${pathOf(id)}/fork`, { body }))
  }

  /** Stops the open turn. Resolves when the turn has ended. */
  async interrupt(id: string, signal?: AbortSignal): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`POST ${pathOf(id)}/interrupt`, { signal }))
  }

  /** Sends a prompt to the running turn, for agents that accept one. */
  async steer(id: string, prompt: string): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`POST ${pathOf(id)}/steer`, { body: { prompt } }))
  }

  /** Changes the model; `null` selects the default of the agent. `applied` is when the change takes effect. */
  async setModel(id: string, model: string | null): Promise<SessionRecord & { applied: Applied }> {
    return changedOf(await this.#connection.json(`POST ${pathOf(id)}/model`, { body: { model } }))
  }

  /** Gives the session a name, which commands accept instead of its id; `null` removes it. */
  async rename(id: string, name: string | null): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`POST ${pathOf(id)}/name`, { body: { name } }))
  }

  /** Has another agent continue the session. It is told a recap of the log before its first prompt. */
  async continueWith(id: string, body: HandOver): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`POST ${pathOf(id)}/agent`, { body }))
  }

  /** Changes the policy, or the mode of the agent by its native name. */
  async setMode(id: string, body: ModeChange): Promise<SessionRecord & { applied: Applied }> {
    return changedOf(await this.#connection.json(`POST ${pathOf(id)}/mode`, { body }))
  }

  /** Counts the raw frames of the agent by verdict. */
  async coverage(id: string): Promise<Coverage> {
    return shaped<Coverage>(await this.#connection.json(`GET ${pathOf(id)}/coverage`))
  }

  /** One page of the log after a cursor. */
  async page(id: string, query: PageQuery = {}, signal?: AbortSignal): Promise<EntryPage> {
    const { raw, types, ...rest } = query
    const search = searchOf({ ...rest, ...(raw && { raw: '1' }), ...(types && { types: types.join(',') }) })
    return shaped<EntryPage>(
      await this.#connection.json(`GET ${pathOf(id)}/events?${search}`, { signal }),
      'next',
    )
  }

  /** One page of raw frames in both directions: what the agent wrote, and what was written to it. */
  async frames(id: string, query: FrameQuery = {}, signal?: AbortSignal): Promise<FramePage> {
    const route = `GET ${pathOf(id)}/frames?${searchOf({ ...query })}`
    return shaped<FramePage>(await this.#connection.json(route, { signal }), 'frames', 'next')
  }

  /** Entries whose prompts, messages or tool calls contain every word of a text, or a word that begins with it. */
  async search(
    q: string,
    { limit, signal }: { limit?: number; signal?: AbortSignal } = {},
  ): Promise<SearchResult> {
    const route = `GET /v1/search?${searchOf({ q, limit })}`
    return shaped<SearchResult>(await this.#connection.json(route, { signal }), 'hits', 'complete')
  }

  /** Everything of a session, one JSON object a line. Fails if the export was cut off. */
  async *export(id: string, signal: AbortSignal = NEVER): AsyncGenerator<string, void, void> {
    const headers = { accept: 'application/x-ndjson' }
    const { body } = await this.#connection.open(`GET ${pathOf(id)}/export`, { headers, signal })
    let last = ''
    for await (const lines of linesIn(body)) {
      yield* lines
      last = lines.at(-1) ?? last
    }
    if (last.startsWith('{"end":')) return
    throw new MainstemError('connection_failed', 'the export was cut off')
  }

  /**
   * Imports an exported session as an ended one. Importing it again changes nothing. Browsers need a `Blob` or a
   * string. Fails with `invalid_request` and the number of the line if the export is damaged.
   */
  async import(
    exported: ReadableStream<Uint8Array> | Blob | string,
    signal?: AbortSignal,
  ): Promise<ImportedSession> {
    const raw = { type: 'application/x-ndjson', body: exported }
    const response = await this.#connection.open('POST /v1/sessions/import', { raw, signal })
    const answer: unknown = JSON.parse(await boundedText(response))
    return shaped<ImportedSession>(answer, 'id', 'entries', 'isNew')
  }

  /** Ends the session; its log stays. */
  async end(id: string): Promise<SessionRecord> {
    return recordOf(await this.#connection.json(`POST ${pathOf(id)}/end`))
  }

  /** Ends the session and deletes its log and all other data. */
  async delete(id: string): Promise<void> {
    await this.#connection.json(`DELETE ${pathOf(id)}`)
  }

  /** Lists the open requests of all sessions, oldest first. */
  async requests(): Promise<readonly OpenRequest[]> {
    const answer = await this.#connection.json('GET /v1/requests')
    return shaped<{ requests: OpenRequest[] }>(answer, 'requests').requests
  }

  /** Answers a request. The first answer wins; later ones are rejected with `conflict`. */
  async answer(id: string, requestId: string, body: RequestAnswer): Promise<SessionRecord> {
    const route = `POST ${pathOf(id)}/requests/${encodeURIComponent(requestId)}`
    return recordOf(await this.#connection.json(route, { body }))
  }

  /** Streams the log after a cursor until the session ends. Reconnects, and yields each entry once. */
  entries(
    id: string,
    { after = 0, signal = NEVER, ...watch }: EntriesOptions = {},
  ): AsyncGenerator<Entry, void, void> {
    const watched = new StreamWatch(watch)
    return resume<Entry, number>(
      {
        connect: (from, left) => {
          const path = `${pathOf(id)}/events?${searchOf({ after: from, notices: watched.flag })}`
          return itemStream(this.#connection, path, entryOf, left, watched)
        },
        positionOf: ({ seq }) => seq,
        // The server ends the stream of a session that has ended.
        mayEndAt: () => false,
        mayBeLast: ({ event }) => event.type === 'session.ended',
        status: async (seq) => {
          const { head, status } = await this.session(id, signal)
          if (head > seq) return 'behind'
          return status === 'ended' ? 'ended' : 'waiting'
        },
        isTransient,
      },
      after,
      this.#resuming(signal),
    )
  }

  /**
   * Streams the entries of all sessions of this principal as they happen. Reconnects. Fails with `cursor_gone` if the
   * server restarted or the cursor is too old; list the sessions again and start without a cursor.
   */
  live({
    after = '',
    types,
    signal = NEVER,
    ...watch
  }: LiveOptions = {}): AsyncGenerator<LiveEntry, void, void> {
    // The headers contain the cursor, so that a disconnect before the first entry loses none.
    let start = after
    const watched = new StreamWatch(watch, ({ headers }) => {
      start ||= headers.get('mainstem-cursor') ?? ''
    })
    const connect = (from: string, left: AbortSignal) => {
      const search = searchOf({
        after: from || start || undefined,
        types: types?.join(','),
        notices: watched.flag,
      })
      return itemStream(this.#connection, `/v1/events?${search}`, liveOf, left, watched)
    }
    return resume<LiveEntry, string>(
      {
        connect,
        positionOf: ({ cursor }) => cursor,
        mayEndAt: () => false,
        mayBeLast: () => false,
        status: async () => 'waiting',
        isTransient,
      },
      after,
      this.#resuming(signal),
    )
  }

  #resuming(signal: AbortSignal): ResumeDeps {
    const { timers = systemTimers, random = Math.random, retry = {} } = this.#options
    return { timers, random, retry, signal }
  }
}
