/// <reference lib="esnext.disposable" preserve="true" />
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { Waiters } from '../../model/waiters.ts'
import { Backoff } from './failures.ts'

type OnPayload = (payload: string) => void
type OnConnect = (client: Client) => Promise<unknown> | undefined

/** A connection that is silently gone is found after this time and a timeout. */
const CHECK_MS = 15_000
const CLOSE_MS = 1_000

/**
 * The one connection that waits for notifications. They are hints: one that is sent while the connection is down is lost,
 * so subscribers also look by themselves, and at once after `onConnect`.
 */
export class Listener implements AsyncDisposable {
  readonly #newClient: () => Client
  readonly #channels = new Map<string, Set<OnPayload>>()
  readonly #onConnect: OnConnect[] = []
  readonly #closed = new AbortController()
  #client: Client | undefined
  #isConnected = false
  #running: Promise<void> | undefined

  constructor(newClient: () => Client) {
    this.#newClient = newClient
  }

  /** False while notifications are lost. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  /** Calls `onPayload` with every notification on a channel. */
  subscribe(channel: string, onPayload: OnPayload): void {
    const subscribers = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, subscribers.add(onPayload))
    // A connection that is lost at this moment listens to it when it is back.
    if (this.#isConnected) this.#client?.query(`LISTEN "${channel}"`).catch(() => undefined)
  }

  /** Called with every new connection, before its first notification. */
  onConnect(react: OnConnect): void {
    this.#onConnect.push(react)
  }

  /** Settles when connected. Connects again whenever the connection is lost, but fails if the first attempt does. */
  async start(): Promise<void> {
    const lost = await this.#connect()
    this.#running = this.#stayConnected(lost)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    await close(this.#client)
    await this.#running
  }

  async #stayConnected(first: ListenerConnection): Promise<void> {
    await first.lost
    while (!this.#closed.signal.aborted) {
      const backoff = new Backoff(Number.POSITIVE_INFINITY, this.#closed.signal)
      while (await backoff.wait()) {
        const connection = await this.#connect().catch(() => undefined)
        await connection?.lost
        if (connection) break
      }
    }
  }

  async #connect(): Promise<ListenerConnection> {
    const client = this.#newClient()
    const { promise: lost, resolve } = Promise.withResolvers<void>()
    client.on('error', () => resolve())
    client.on('end', () => resolve())
    client.on('notification', ({ channel, payload }) => {
      for (const onPayload of this.#channels.get(channel) ?? []) onPayload(payload ?? '')
    })
    this.#client = client
    try {
      // A client that is ended while it connects never settles its promise.
      const failed = lost.then(() => {
        throw new Error('Connection terminated')
      })
      failed.catch(() => undefined)
      await Promise.race([client.connect(), failed])
      for (const channel of this.#channels.keys()) await client.query(`LISTEN "${channel}"`)
      for (const react of this.#onConnect) await react(client)
    } catch (thrown) {
      await close(client)
      throw thrown
    }
    this.#isConnected = true
    const check = setInterval(() => client.query('SELECT 1').catch(() => resolve()), CHECK_MS)
    return {
      lost: lost.then(async () => {
        this.#isConnected = false
        clearInterval(check)
        await close(client)
      }),
    }
  }
}

interface ListenerConnection {
  /** Settles when the connection is gone. */
  lost: Promise<void>
}

/** It may be gone already, and `pg` does not always notice the end of a connection that was never complete. */
async function close(client: Client | undefined): Promise<void> {
  if (!client) return
  const ended = client.end().catch(() => undefined)
  await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })])
}

/** Callers that wait for something with a name. */
export class WakeUps {
  readonly #waiting = new Map<string, Waiters>()

  /** Settles with the next `wake` of this name; also when the signal fires. */
  async wait(name: string, signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting.get(name) ?? new Waiters()
    this.#waiting.set(name, waiting)
    await waiting.wait(signal)
    if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name)
  }

  wake(name: string): void {
    this.#waiting.get(name)?.wake()
  }
}
