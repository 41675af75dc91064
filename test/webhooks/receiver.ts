import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { WebhookPayload } from '../../src/model/webhook.ts'

/** A call as its receiver got it. */
export interface Received {
  headers: IncomingHttpHeaders
  body: string
  payload: WebhookPayload
}

/** A receiver of webhooks on 127.0.0.1. */
export class Receiver {
  readonly received: Received[] = []
  /** What it answers. */
  answer: { status: number; headers?: Record<string, string> } = { status: 204 }
  /** Answers only after this settles. */
  held: Promise<void> | undefined
  #server: Server | undefined
  #port = 0

  async start(): Promise<this> {
    const server = createServer(async (request, response) => {
      const payload = (await json(request)) as WebhookPayload
      this.received.push({ headers: request.headers, body: JSON.stringify(payload), payload })
      await this.held
      response.writeHead(this.answer.status, this.answer.headers).end()
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  get types(): string[] {
    return this.received.map(({ payload }) => payload.type)
  }

  /** Refuses connections. It can be started again at the same address. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    server?.closeAllConnections()
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
