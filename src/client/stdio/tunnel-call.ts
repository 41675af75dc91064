import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { fieldOf } from '../rest.ts'

interface CallEnds {
  send(line: { more: true } | { abort: true }): void
  over(): void
}

/** One pending HTTP call. Its response arrives in lines; the next chunk is requested after the last was read. */
export class TunnelCall {
  readonly response: Promise<Response>
  readonly #answered = Promise.withResolvers<Response>()
  readonly #ends: CallEnds
  #body: ReadableStreamDefaultController<Uint8Array> | undefined
  #over = false

  constructor(ends: CallEnds) {
    this.#ends = ends
    this.response = this.#answered.promise
  }

  receive(line: object): void {
    const status = fieldOf(line, 'status')
    const data = fieldOf(line, 'data')
    const error = fieldOf(line, 'error')
    if (typeof status === 'number') this.#answer(status, fieldOf(line, 'headers'))
    else if (typeof data === 'string') this.#body?.enqueue(new TextEncoder().encode(data))
    else if (typeof error === 'string') this.fail(new MainstemError('connection_failed', error))
    else if (fieldOf(line, 'end') === true) this.#close()
  }

  abort(reason: unknown): void {
    if (this.#over) return
    this.#ends.send({ abort: true })
    this.fail(reason)
  }

  fail(reason: unknown): void {
    if (this.#over) return
    this.#finish()
    this.#answered.reject(reason)
    this.#body?.error(reason)
  }

  #answer(status: number, headers: unknown): void {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller
        },
        pull: () => {
          if (!this.#over) this.#ends.send({ more: true })
        },
        cancel: () => {
          if (!this.#over) this.#ends.send({ abort: true })
          this.#finish()
        },
      },
      // Requests no chunk before it is needed.
      { highWaterMark: 0 },
    )
    const init = { status, headers: new Headers(Object.entries(headers ?? {})) }
    this.#answered.resolve(new Response(EMPTY.has(status) ? null : body, init))
  }

  #close(): void {
    if (this.#over) return
    this.#finish()
    this.#body?.close()
  }

  #finish(): void {
    this.#over = true
    this.#ends.over()
  }
}

/** Statuses of responses without a body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304])
