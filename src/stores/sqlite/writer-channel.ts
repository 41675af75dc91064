import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { MainstemError } from '../../model/index.ts'
import type { FromWriter, ToWriter, WriterSettings } from './message.ts'

/** The channel to the writer thread, which replies to messages in their order. */
export class WriterChannel {
  readonly #worker: Worker
  readonly #gone: Promise<void>
  #ended: MainstemError | undefined
  /** The callers that wait for a reply, in the order of their messages. */
  readonly #waiting: ((answer: FromWriter) => void)[] = []

  private constructor(settings: WriterSettings) {
    // `.ts` in the source tree, `.js` in the package.
    const script = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url)
    this.#worker = new Worker(script, { workerData: settings })
    this.#worker.on('message', (answer: FromWriter) => this.#waiting.shift()?.(answer))
    this.#worker.on('error', (thrown) => this.#end(String(thrown)))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gone = promise
    this.#worker.once('exit', () => {
      this.#end('its thread has ended')
      resolve()
    })
  }

  /** Resolves when the files are open and locked. */
  static async start(settings: WriterSettings): Promise<WriterChannel> {
    const channel = new WriterChannel(settings)
    try {
      await channel.#answer()
    } catch (thrown) {
      await channel.#leave()
      throw thrown
    }
    return channel
  }

  ask(message: ToWriter): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended)
    const answer = this.#answer()
    this.#worker.postMessage(message)
    return answer
  }

  async close(): Promise<void> {
    if (!this.#ended) await this.ask({ kind: 'close' })
    await this.#leave()
  }

  /** Waits for the thread, so that its files are closed. */
  #leave(): Promise<void> {
    this.#worker.ref()
    return this.#gone
  }

  /** Keeps the program alive only while a reply is pending. */
  #answer(): Promise<void> {
    this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.push((failure) => {
        if (this.#waiting.length === 0) this.#worker.unref()
        if (failure) reject(new MainstemError(failure.code, failure.message, failure.details))
        else resolve()
      })
    })
  }

  #end(why: string): void {
    this.#ended ??= new MainstemError('storage_failed', `the store cannot be written any more: ${why}`)
    for (const answered of this.#waiting.splice(0)) answered(this.#ended)
  }
}
