import { Worker } from 'node:worker_threads'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { storageFailed } from '../refusals.ts'

type ThreadReply<Answer> = { answer: Answer } | { failure: ReturnType<typeof failureOf> }

/** For the thread: the reply to a message. */
export function replyOf<Answer>(failing: string, work: () => Answer): ThreadReply<Answer> {
  try {
    return { answer: work() }
  } catch (thrown) {
    return { failure: failureOf(storageFailed(failing, thrown)) }
  }
}

/** An error as a message can have it. */
const failureOf = ({ code, message, details }: MainstemError) => ({ code, message, details })

/** The channel to a thread, which replies to messages in their order. */
export class ThreadChannel<Message, Answer> {
  readonly #worker: Worker
  readonly #gone: Promise<void>
  #ended: MainstemError | undefined
  /** The callers that wait for a reply, in the order of their messages. */
  readonly #waiting: ((reply: ThreadReply<Answer>) => void)[] = []

  /** `failing` is what cannot be done once the thread has ended. */
  constructor(script: URL, workerData: object, failing: string) {
    this.#worker = new Worker(script, { workerData })
    this.#worker.unref()
    const end = (why: string) => {
      this.#ended ??= new MainstemError('storage_failed', `${failing}: ${why}`)
      for (const replied of this.#waiting.splice(0)) replied({ failure: failureOf(this.#ended) })
    }
    this.#worker.on('message', (reply: ThreadReply<Answer>) => this.#waiting.shift()?.(reply))
    this.#worker.on('error', (thrown) => end(String(thrown)))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gone = promise
    this.#worker.once('exit', () => {
      end('its thread has ended')
      resolve()
    })
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  ask(message: Message): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended)
    const answer = this.answer()
    this.#worker.postMessage(message)
    return answer
  }

  /** Sends a message that is not replied to. */
  tell(message: Message): void {
    this.#worker.postMessage(message)
  }

  /** The next reply. Keeps the program alive only while it is pending. */
  answer(): Promise<Answer> {
    this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.push((reply) => {
        if (this.#waiting.length === 0) this.#worker.unref()
        if ('answer' in reply) resolve(reply.answer)
        else reject(new MainstemError(reply.failure.code, reply.failure.message, reply.failure.details))
      })
    })
  }

  /** Waits for the thread, so that its files are closed. `last` is the message that ends it. */
  async close(last?: Message): Promise<void> {
    if (last !== undefined && !this.#ended) await this.ask(last)
    this.#worker.ref()
    await this.#gone
  }
}
