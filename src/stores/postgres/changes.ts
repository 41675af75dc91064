/// <reference lib="esnext.disposable" preserve="true" />
import { randomBytes } from 'node:crypto'
import type { Tails } from '../log-store/tails.ts'
import { integer, text } from '../row.ts'
import { fromColumn, toColumn } from './columns.ts'
import type { Database } from './database.ts'

/** The interval of polls for the heads of awaited logs. Notifications only shorten the delay. */
const POLL_MS = 1_500
/** Notifications of one server are at least this far apart: each takes a lock of the whole database. */
const NOTIFY_MS = 20
/** PostgreSQL refuses a payload of 8000 bytes. */
const PAYLOAD_BYTES = 7_900

const HEADS = 'SELECT id, head FROM @session WHERE id = ANY($1::text[])'

/** Publishes which logs have changed, and receives the changes of other servers. */
export class Changes implements AsyncDisposable {
  readonly #database: Database
  readonly #tails: Tails
  readonly #onChange: () => void
  readonly #channel: string
  /** Marks notifications of this process, which it ignores. */
  readonly #self = randomBytes(6).toString('hex')
  readonly #changed = new Set<string>()
  readonly #poll: NodeJS.Timeout
  /** Logs whose heads have to be read. */
  readonly #stale = new Set<string>()
  #notifying: NodeJS.Timeout | undefined
  #underway: Promise<void> | undefined

  /** `onChange` is called when this or another server has committed something, as often as notifications are sent. */
  constructor(database: Database, tails: Tails, onChange: () => void) {
    this.#database = database
    this.#tails = tails
    this.#onChange = onChange
    this.#channel = `${database.address.schema}_changes`
    database.listener.subscribe(this.#channel, (payload) => this.#heard(payload))
    database.listener.onConnect(() => this.#look())
    this.#poll = setInterval(() => this.#look(), POLL_MS).unref()
  }

  /** Sent after the commit: a notification inside a transaction serialises all commits. */
  publish(session: string): void {
    this.#changed.add(session)
    this.#notifying ??= setTimeout(() => this.#notify(), NOTIFY_MS).unref()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#poll)
    clearTimeout(this.#notifying)
    await Promise.all([this.#notify(), this.#underway])
  }

  /** A lost notification is replaced by the next poll of the other servers. */
  async #notify(): Promise<void> {
    this.#notifying = undefined
    if (this.#changed.size === 0) return
    const payloads = payloadsOf(this.#self, [...this.#changed])
    this.#changed.clear()
    // A pooler loses the notification of this server too.
    this.#onChange()
    // Without the database, no server can be notified. A poll after its return finds the changes.
    await this.#database.notify(this.#channel, payloads).catch(() => undefined)
  }

  #heard(payload: string): void {
    const [from, ...ids]: string[] = JSON.parse(payload)
    if (from === this.#self) return
    this.#onChange()
    if (ids.length === 0) this.#tails.distrustAll()
    const awaited = ids.filter((session) => this.#tails.distrust(session))
    this.#lookFor(ids.length === 0 ? this.#tails.awaited : awaited)
  }

  /** While notifications are lost, every cached head may be out of date. */
  #look(): undefined {
    if (!this.#database.listener.isConnected) this.#tails.distrustAll()
    this.#lookFor(this.#tails.awaited)
  }

  /** One query at a time. A log that changes during it is read again afterwards. */
  #lookFor(sessions: readonly string[]): void {
    for (const session of sessions) this.#stale.add(session)
    if (this.#stale.size > 0) this.#underway ??= this.#advanceStale()
  }

  async #advanceStale(): Promise<void> {
    while (this.#stale.size > 0) {
      const sessions = [...this.#stale]
      this.#stale.clear()
      // After a failure, the next poll asks again.
      await this.#advance(sessions).catch(() => undefined)
    }
    this.#underway = undefined
  }

  async #advance(sessions: readonly string[]): Promise<void> {
    const heads = new Map(sessions.map((session) => [session, 0]))
    for (const row of await this.#database.read(HEADS, [sessions.map(toColumn)])) {
      heads.set(fromColumn(text(row, 'id')), integer(row, 'head'))
    }
    for (const [session, head] of heads) this.#tails.advance(session, head)
  }
}

/** Packs session ids into payloads, each with its sender. An id that is too long for a payload means all sessions. */
function payloadsOf(self: string, sessions: readonly string[]): string[] {
  const payloads: string[] = []
  let ids: string[] = []
  for (const id of sessions) {
    if (Buffer.byteLength(JSON.stringify([self, id])) > PAYLOAD_BYTES) return [JSON.stringify([self])]
    if (Buffer.byteLength(JSON.stringify([self, ...ids, id])) > PAYLOAD_BYTES) {
      payloads.push(JSON.stringify([self, ...ids]))
      ids = []
    }
    ids.push(id)
  }
  return [...payloads, JSON.stringify([self, ...ids])]
}
