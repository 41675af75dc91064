/// <reference lib="esnext.disposable" preserve="true" />

import { IN_PROCESS } from '../attend/in-process.ts'
import { type AgentReadiness, readiness } from '../compose/readiness.ts'
import {
  type AgentId,
  DEFAULT_POLICY,
  type Entry,
  type LaunchKind,
  MainstemError,
  type Policy,
  type SessionOptions,
  type SessionRecord,
} from '../model/index.ts'
import { forkRequest } from '../model/session/fork-request.ts'
import { copyEntry, jsonCopy } from '../model/text/json.ts'
import { checkCallback, checkFields, checkSignal } from '../model/text/known-fields.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import type { AgentLimits } from '../sessions/process/agent-limits.ts'
import { checkOpen, Handle } from './handle.ts'
import { ItemIterator } from './item-iterator.ts'
import { Opened } from './opened.ts'
import { jsonSchemaOf, type OutputSchema, type PlainJsonSchema, validatorOf } from './output.ts'
import { AgentSession, type Answerer, checkRead, type ReadOptions } from './session.ts'
import { UnreadRetention } from './unread-retention.ts'

export type { AgentReadiness }

/** Options of `mainstem()`. */
export interface MainstemOptions {
  /** Commands and environment variables by agent id, for agents that are not run by their default command. */
  agents?: Readonly<Record<string, AgentSettings>>
  /** Time limits for the start and the exit of an agent, and for its silence before a notice is raised. */
  timeouts?: Partial<AgentLimits>
  /**
   * A directory for the logs. Every entry is on disk before you receive it, and sessions can be opened again after a
   * restart of the program. One process can use the directory at a time. By default logs are in memory and end with the
   * process.
   */
  data?: string
}

/** A session to start. */
export interface SessionRequest<T = unknown> {
  /** The id of the agent. */
  agent: AgentId
  /** The agent's working directory. */
  cwd: string
  /**
   * How to run the agent; `live` by default, for agents that have both, or `oneshot` if only that supports the options
   * and nothing needs approval.
   */
  launch?: LaunchKind
  /** What the agent may do. By default every request needs approval. */
  policy?: Partial<Policy>
  /** Options such as the model, the system prompt and MCP servers. */
  options?: SessionOptions
  /** The `nativeSessionId` of an earlier session to continue. */
  resume?: string
  /** Decides the requests that the policy leaves to a person. Without it, call `answer` for `request.opened` entries. */
  onRequest?: Answerer
  /**
   * `all` keeps every entry in memory, so that it can be read again. `unread` evicts entries that every subscriber has
   * read, for sessions that run for a long time; not with a data directory. `all` by default.
   */
  keep?: 'all' | 'unread'
  /**
   * The schema of the answers: of zod or another library that implements Standard Schema, or a plain JSON Schema, which
   * the agent gets and which is not checked here.
   */
  output?: OutputSchema<T> | PlainJsonSchema
}

const LIMITS = ['startMs', 'exitMs', 'silenceMs'] as const satisfies (keyof AgentLimits)[]
const SETTINGS = ['command', 'env'] as const satisfies (keyof AgentSettings)[]
const REQUEST_FIELDS = [
  ...['agent', 'cwd', 'launch', 'policy', 'options', 'resume'],
  ...['onRequest', 'keep', 'output'],
] as const satisfies (keyof SessionRequest)[]

/** How to open a session again. The rest is stored with the session. */
export type ReopenOptions<T = unknown> = Pick<SessionRequest<T>, 'onRequest' | 'output'>

/**
 * Runs sessions in this process, without a server. Disposing stops all agents, and ends their sessions unless the logs
 * are in a data directory.
 */
export class Mainstem implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, AgentSettings>>
  readonly #opened: Promise<Opened>
  readonly #closed = new AbortController()
  #closing: Promise<void> | undefined

  constructor(options: MainstemOptions = {}) {
    checkFields(options, ['agents', 'timeouts', 'data'], 'options')
    const { agents = {}, timeouts = {}, data } = options
    checkFields(timeouts, LIMITS, 'timeouts')
    for (const [id, settings] of Object.entries(agents)) checkFields(settings, SETTINGS, `agents.${id}`)
    if (data !== undefined && (typeof data !== 'string' || data === ''))
      throw new MainstemError('invalid_request', 'data: must be the path of a directory', { field: 'data' })
    this.#settings = agents
    const wiring = { settings: agents, agentLimits: timeouts }
    this.#opened = data === undefined ? Promise.resolve(Opened.inMemory(wiring)) : Opened.onDisk(data, wiring)
    // Every method reports the rejection. A program that calls none must not get an unhandled rejection.
    this.#opened.catch(() => undefined)
  }

  /** Lists all agents, and whether each is ready to use. Runs their programs only to get their versions. */
  async agents(options: { signal?: AbortSignal } = {}): Promise<AgentReadiness[]> {
    checkFields(options, ['signal'], 'options')
    const { signal } = options
    checkSignal(signal)
    return readiness({ settings: this.#settings, ...(signal && { signal }) })
  }

  /** Starts a session. Rejects, before the agent starts, if the agent does not support an option. */
  async session<T>(request: SessionRequest<T>): Promise<AgentSession<T>> {
    checkFields(request, REQUEST_FIELDS, 'session')
    const { policy, onRequest, output, options, keep = 'all', ...rest } = request
    checkCallback(onRequest, 'onRequest')
    if (keep !== 'all' && keep !== 'unread')
      throw new MainstemError(
        'invalid_request',
        `keep must be 'all' or 'unread', not ${JSON.stringify(keep)}`,
        { field: 'keep' },
      )
    const opened = await this.#open()
    const { sessions } = opened
    if (keep === 'unread' && opened.isOnDisk) {
      const message =
        "keep: 'unread' would delete entries from the data directory; call delete() for a session"
      throw new MainstemError('invalid_request', message, { field: 'keep' })
    }
    const wanted = {
      ...rest,
      policy: { ...DEFAULT_POLICY, ...policy },
      options: { ...options, ...(output !== undefined && { outputSchema: jsonSchemaOf(output) }) },
    }
    const session = await sessions.create(wanted, undefined, IN_PROCESS)
    const retention =
      keep === 'unread' ? new UnreadRetention((seq) => sessions.trim(session.id, seq)) : undefined
    const log = opened.log(session.id, retention)
    const handle = new Handle({ sessions, session, log, closed: this.#closed.signal })
    return new AgentSession(handle, output && validatorOf(output), onRequest, { requests: [], after: 0 })
  }

  /**
   * Starts a session that continues a copy of another one's conversation, with the same settings. Rejects with
   * `unsupported_option` if the agent cannot copy a conversation.
   */
  async fork<T>(id: string, forking: ReopenOptions<T> = {}): Promise<AgentSession<T>> {
    checkFields(forking, ['onRequest', 'output'], 'options')
    const { onRequest, output } = forking
    checkCallback(onRequest, 'onRequest')
    const opened = await this.#open()
    const { sessions } = opened
    const record = await opened.record(id)
    if (output !== undefined) checkOutput(output, record.options.outputSchema)
    const session = await sessions.create(forkRequest(record), undefined, { ...IN_PROCESS, forkOf: id })
    const handle = new Handle({ sessions, session, log: opened.log(session.id), closed: this.#closed.signal })
    return new AgentSession(handle, output && validatorOf(output), onRequest, { requests: [], after: 0 })
  }

  /** Lists all sessions, newest first: those of this process, and with a data directory those of earlier ones. */
  async *sessions(): AsyncGenerator<SessionRecord, void> {
    const { sessions } = await this.#open()
    for await (const record of sessions.allRecords()) yield jsonCopy(record)
  }

  /**
   * Opens a session again, also one of an earlier process. Its queued prompts start. A turn that was open when the
   * earlier process was killed has ended as `lost`. Rejects with `conflict` if the session was closed; its entries can
   * still be read.
   */
  async open<T>(id: string, reopening: ReopenOptions<T> = {}): Promise<AgentSession<T>> {
    checkFields(reopening, ['onRequest', 'output'], 'options')
    const { onRequest, output } = reopening
    checkCallback(onRequest, 'onRequest')
    const opened = await this.#open()
    const { sessions } = opened
    const session = await sessions.open(id)
    const { head, requests, earliest = 1, options } = await opened.record(id)
    if (output !== undefined) checkOutput(output, options.outputSchema)
    const log = opened.log(id)
    const handle = new Handle({ sessions, session, log, closed: this.#closed.signal, trimmed: earliest - 1 })
    const reopened = new AgentSession(handle, output && validatorOf(output), onRequest, {
      requests,
      after: head,
    })
    await session.resume()
    return reopened
  }

  /** Reads the log of a session after a `seq`, then streams new entries until the session ends. Starts no agent. */
  entries(id: string, options: ReadOptions = {}): AsyncIterableIterator<Entry, void> {
    checkRead(options)
    const { after, signal } = options
    return new ItemIterator(this.#batches(id, after, signal), copyEntry)
  }

  async *#batches(
    id: string,
    after: number | undefined,
    signal: AbortSignal = new AbortController().signal,
  ): AsyncGenerator<readonly Entry[], void> {
    const opened = await this.#open()
    const { earliest = 1 } = await opened.record(id)
    try {
      yield* opened.sessions.follow(id, after ?? earliest - 1, signal)
    } catch (thrown) {
      if (!this.#closed.signal.aborted) throw thrown
    }
  }

  /** Ends a session and deletes its log. */
  async delete(id: string): Promise<void> {
    const { sessions } = await this.#open()
    await sessions.delete(id, IN_PROCESS)
  }

  /**
   * Stops all agents and ends their open turns. Sessions in memory end; those in a data directory can be opened again.
   * `await using` calls it at the end of the block.
   */
  close(): Promise<void> {
    this.#closed.abort()
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const opened = await this.#opened.catch(() => undefined)
    await opened?.close()
  }

  async #open(): Promise<Opened> {
    checkOpen(this.#closed.signal)
    return this.#opened
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Refuses a schema that the agent does not have: its answers could not match. */
function checkOutput(output: OutputSchema<unknown> | PlainJsonSchema, stored: unknown): void {
  if (JSON.stringify(jsonSchemaOf(output)) === JSON.stringify(stored)) return
  const message = 'output: must be the schema with which the session was started'
  throw new MainstemError('invalid_request', message, { field: 'output' })
}

/** Creates a `Mainstem`: one event stream for every coding agent, in this process. */
export function mainstem(options?: MainstemOptions): Mainstem {
  return new Mainstem(options)
}
