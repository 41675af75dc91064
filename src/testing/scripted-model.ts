/// <reference lib="esnext.disposable" preserve="true" />
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { jsonFrame } from '../framing/frame.ts'
import { toMainstemError } from '../model/index.ts'
import type { Api, ModelReply } from './apis/api.ts'
import { chat } from './apis/chat.ts'
import { gemini } from './apis/gemini.ts'
import { messages } from './apis/messages.ts'
import { responses } from './apis/responses.ts'
import { deliver, refuse } from './deliver.ts'
import { isFields } from './fields.ts'
import type { ModelCall } from './model-call.ts'
import { type RecordedRequest, Requests, withoutKey, withoutSecrets } from './requests.ts'
import type { Fault, Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import { type Cue, Script } from './script.ts'
import { settle } from './settle.ts'

const APIS: readonly Api[] = [messages, responses, chat, gemini]

/** The list of models for vendors that have one. All other model names work too. */
const MODELS = {
  object: 'list',
  data: [{ id: 'scripted', object: 'model', type: 'model', display_name: 'Scripted', owned_by: 'scripted' }],
  has_more: false,
}

/** Options of `scriptedModel()`. */
export interface ScriptedModelOptions {
  /** Scenarios to add to `SCENARIOS`, or to replace by name. */
  readonly scenarios?: Readonly<Record<string, Scenario>>
  /** Chooses the scenario of a call, instead of the marker in the prompt. */
  readonly choose?: (call: ModelCall) => string | undefined
}

/** Starts a model server with scripted replies on 127.0.0.1. */
export function scriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  return ScriptedModel.start(options)
}

/** A model server with scripted replies, for the APIs of Anthropic, OpenAI and Google. */
export class ScriptedModel implements AsyncDisposable {
  /** The base URL. */
  readonly url: string
  readonly #server: Server
  readonly #script: Script
  readonly #requests = new Requests()
  readonly #open = new Set<Promise<void>>()
  /** Part of all ids, so that ids of two servers differ in a conversation that is resumed. */
  readonly #name = randomUUID().slice(0, 8)
  #answers = 0
  #gate = Promise.withResolvers<void>()

  /** Listens on a free port of the loopback interface. */
  static async start(options: ScriptedModelOptions): Promise<ScriptedModel> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new ScriptedModel(server, options)
  }

  // Private, so that the declarations need no types of Node.
  private constructor(server: Server, { scenarios, choose }: ScriptedModelOptions) {
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    this.url = `http://127.0.0.1:${port}`
    this.#server = server
    this.#script = new Script({ ...SCENARIOS, ...scenarios }, choose)
    server.on('request', (request, response) => this.#take(request, response))
  }

  /** All requests so far, in order of arrival. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests.all
  }

  /** Resolves with the first request that matches, past or future. */
  waitFor(matches: (request: RecordedRequest) => boolean, signal?: AbortSignal): Promise<RecordedRequest> {
    return this.#requests.waitFor(matches, signal)
  }

  /** Ends the `stall` faults of all requests so far. */
  release(): void {
    this.#gate.resolve()
    this.#gate = Promise.withResolvers()
  }

  /** Stops the server. `await using` calls it at the end of the block. */
  async close(): Promise<void> {
    this.#requests.end()
    this.#server.close()
    this.#server.closeAllConnections()
    await Promise.all(this.#open)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const work = this.#answer(request, response, gone.signal)
      .catch((thrown: unknown) => {
        if (!gone.signal.aborted) fail(response, thrown)
      })
      .finally(() => this.#open.delete(work))
    this.#open.add(work)
  }

  async #answer(request: IncomingMessage, response: ServerResponse, gone: AbortSignal): Promise<void> {
    const body = await bodyOf(request)
    const url = new URL(request.url ?? '/', this.url)
    const api = request.method === 'POST' ? APIS.find(({ path }) => path.test(url.pathname)) : undefined
    const call = api && isFields(body) ? api.read(body, url) : undefined
    const cue = call && this.#script.cue(call)
    // Read before the request is announced, so that a caller that waited for it can release it.
    const released = this.#gate.promise
    const emitted = call && cue && settle(cue.reply, call, `${this.#name}${this.#answers++}`)
    this.#requests.add(recorded(request, url, body, cue, emitted))
    if (!api) return answerOther(request, response, url, body)
    if (!call || !cue || !emitted) {
      return refuse(response, api, { status: 400, message: 'The body is not a JSON object.' })
    }
    const { reply, fault } = cue
    await deliver(response, {
      api,
      emitted,
      streaming: call.streaming,
      released,
      gone,
      ...(fault && { fault }),
      ...(reply.paceMs !== undefined && { paceMs: reply.paceMs }),
    })
  }
}

/** Faults after which the rest of the response, including the usage, still arrives. */
const HARMLESS: readonly (Fault['kind'] | undefined)[] = [undefined, 'garble', 'stall']

function recorded(
  request: IncomingMessage,
  url: URL,
  body: unknown,
  cue?: Cue,
  emitted?: ModelReply,
): RecordedRequest {
  return {
    method: request.method ?? '',
    path: withoutKey(url),
    headers: withoutSecrets(request.headers),
    body,
    at: new Date(),
    ...(cue?.place && { place: cue.place }),
    ...(emitted && HARMLESS.includes(cue?.fault?.kind) && { usage: emitted.usage }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  return jsonFrame('http', text).value ?? text
}

/** Responds to token counting and to the list of models. */
function answerOther(request: IncomingMessage, response: ServerResponse, url: URL, body: unknown): void {
  const asked = `${request.method} ${url.pathname}`
  const counting = APIS.map((api) => api.counting).find((one) => one?.path.test(url.pathname))
  if (counting) answer(response, 200, counting.answer(Math.ceil(JSON.stringify(body).length / 4)))
  else if (asked === 'GET /v1/models') answer(response, 200, MODELS)
  else answer(response, 404, { error: { message: `Nothing is scripted at ${asked}.` } })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function fail(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) response.destroy()
  else answer(response, 500, { error: { message: toMainstemError(thrown).message } })
}
