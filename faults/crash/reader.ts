import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, type Protocol, Refused } from './protocols.ts'
import type { Target } from './target.ts'

const RETRY_MS = 20

export interface Reading {
  name: string
  headers: Readonly<Record<string, string>>
  protocol: Protocol
  see?: (message: Message) => void
}

/** Reads one stream to its end over all lives of the server, and remembers every message that it was ever shown. */
export class Reader {
  readonly shown = new Map<string, string>()
  readonly name: string
  /** Messages that came a second time. */
  repeated = 0
  /** Why the server refused to continue. */
  forgotten: string | undefined
  readonly ended: Promise<void>
  isEnded = false
  readonly #target: Target
  readonly #reading: Reading
  #last: string | undefined
  #connection = new AbortController()

  constructor(target: Target, reading: Reading) {
    this.name = reading.name
    this.#target = target
    this.#reading = reading
    this.ended = this.#run()
  }

  /** Where it is, for people. */
  get place(): string {
    return `${this.name} is at ${this.#last ?? 'the beginning'}`
  }

  /** Cuts the connection; the reader comes back with its cursor. */
  cut(): void {
    this.#connection.abort()
  }

  async #run(): Promise<void> {
    while (!(await this.#read(await this.#target.url))) await sleep(RETRY_MS)
    this.isEnded = true
  }

  /** True when there is nothing more to come. */
  async #read(url: string): Promise<boolean> {
    this.#connection = new AbortController()
    const { signal } = this.#connection
    const { protocol, headers } = this.#reading
    try {
      const take = (message: Message) => {
        if (!signal.aborted) this.#take(message)
      }
      return await protocol({ url, headers, signal, last: this.#last, take })
    } catch (thrown) {
      if (!(thrown instanceof Refused)) return false
      this.forgotten = `${this.name} after ${this.#last ?? 'nothing'}: ${thrown.message}`
      return true
    }
  }

  #take(message: Message): void {
    if (this.shown.has(message.id)) this.repeated++
    this.shown.set(message.id, message.text)
    this.#last = message.id
    this.#reading.see?.(message)
  }
}
