import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from './host.ts'
import { type Message, type Protocol, Refused } from './protocols.ts'

const RETRY_MS = 20

/** Reads one stream to its end over all lives of the server, and remembers every message that it was ever shown. */
export class Reader {
  readonly shown = new Map<string, string>()
  readonly name: string
  /** Messages that came a second time. */
  repeated = 0
  /** The server does not know what it has shown. */
  forgotten: string | undefined
  readonly ended: Promise<void>
  readonly #host: Host
  readonly #protocol: Protocol
  readonly #see: (message: Message) => void
  #last: string | undefined

  constructor(
    name: string,
    host: Host,
    protocol: Protocol,
    see: (message: Message) => void = () => undefined,
  ) {
    this.name = name
    this.#host = host
    this.#protocol = protocol
    this.#see = see
    this.ended = this.#run()
  }

  async #run(): Promise<void> {
    while (!(await this.#read(await this.#host.url))) await sleep(RETRY_MS)
  }

  /** True when there is nothing more to come. */
  async #read(url: string): Promise<boolean> {
    try {
      return await this.#protocol(url, this.#last, (message) => this.#take(message))
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
    this.#see(message)
  }
}
