import { pick, type Random } from '../random.ts'
import type { Host } from './host.ts'
import { execute, type Message, ndjson, socket, sse } from './protocols.ts'
import { Reader } from './reader.ts'

/** Something that was asked of the server. */
export interface Prompt {
  text: string
  /** The session and the turn that the server has promised; absent as long as it has not. */
  session?: string
  turn?: number
}

interface Conversation {
  key: string
  body: { agent: string; prompt: string }
  session?: string
  ending: boolean
}

const AGENTS = ['echo', 'demo', 'claude']
/** Begun in every life: a place where processes are started or answered is passed twice even in the first. */
const PROCESSES = ['claude', 'claude']
/** So many conversations go on at once; the oldest is ended for a new one. */
const OPEN = 5

/** People at work: they begin conversations, send prompts, answer what is asked, read along, and end. */
export class Load {
  readonly prompts: Prompt[] = []
  readonly readers: Reader[] = []
  readonly tasks: { reader: Reader; task: Record<string, unknown> }[] = []
  readonly conversations: Conversation[] = []
  /** Keys that stood for two sessions. */
  readonly broken: string[] = []
  /** Whether what agents ask is answered; a turn that waits for an answer stays open. */
  answers = true
  readonly #host: Host
  readonly #random: Random
  #count = 0

  constructor(host: Host, random: Random) {
    this.#host = host
    this.#random = random
  }

  /** All of it at once, as far as the server lives to hear it. */
  async press(): Promise<void> {
    const open = this.conversations.filter(({ ending }) => !ending)
    const oldest = open.length > OPEN ? open[0] : undefined
    const agents = [pick(this.#random, AGENTS), ...PROCESSES]
    await Promise.all([
      ...this.conversations.filter(({ session }) => session === undefined).map((one) => this.#begin(one)),
      ...agents.map((agent) => this.#begin(this.#conversation(agent))),
      ...open.slice(1).flatMap((one) => [this.#prompt(one), this.#prompt(one)]),
      oldest && this.#end(oldest),
      this.#execute(),
    ])
  }

  /** Everything comes to its end: nothing is left unanswered, and every reader gets the rest. */
  async conclude(): Promise<void> {
    for (const one of this.conversations) await this.#begin(one)
    // The same keys again: they have to stand for the same sessions.
    await Promise.all(this.conversations.map((one) => this.#begin(one)))
    await Promise.all(this.conversations.map((one) => this.#end(one)))
    await Promise.all(this.readers.map(({ ended }) => ended))
  }

  #conversation(agent: string): Conversation {
    const one = { key: `key-${++this.#count}`, body: { agent, prompt: this.#text() }, ending: false }
    this.conversations.push(one)
    return one
  }

  /** Asked for until it is answered, with a key, so that it is done once. */
  async #begin(one: Conversation): Promise<void> {
    const answer = await this.#host.call('POST /v1/sessions', one.body, { 'idempotency-key': one.key })
    if (answer?.status !== 201) return
    const session = String(answer.body.id)
    if (one.session !== undefined && one.session !== session) this.broken.push(one.key)
    if (one.session !== undefined) return
    one.session = session
    this.prompts.push({ text: one.body.prompt, session, turn: 1 })
    const answering = (message: Message) => this.#answer(session, message)
    this.readers.push(new Reader(`sse ${session}`, this.#host, sse(session), answering))
    const [name, protocol] = pick(this.#random, [['ndjson', ndjson] as const, ['socket', socket] as const])
    this.readers.push(new Reader(`${name} ${session}`, this.#host, protocol(session)))
  }

  /** Asked for once: whoever gets no answer does not know whether it was heard. */
  async #prompt({ session }: Conversation): Promise<void> {
    if (session === undefined) return
    const text = this.#text()
    const prompt: Prompt = { text }
    this.prompts.push(prompt)
    const answer = await this.#host.call(`POST /v1/sessions/${session}/turns`, { prompt: text })
    if (answer?.status === 202) Object.assign(prompt, { session, turn: Number(answer.body.turn) })
  }

  async #end(one: Conversation): Promise<void> {
    one.ending = true
    if (one.session !== undefined) await this.#host.call(`POST /v1/sessions/${one.session}/end`)
  }

  async #execute(): Promise<void> {
    const task = { idempotency_key: `task-${++this.#count}`, task: this.#text(), driver: 'echo' }
    const reader = new Reader(`execute ${task.idempotency_key}`, this.#host, execute(task))
    this.readers.push(reader)
    this.tasks.push({ reader, task })
  }

  #answer(session: string, { text }: Message): void {
    const { event } = JSON.parse(text)
    if (event.type !== 'request.opened' || !this.answers) return
    const { requestId, inputDigest, questions } = event
    const path = `/v1/sessions/${session}/requests/${encodeURIComponent(requestId)}`
    const answers = questions && { answers: answersTo(questions) }
    void this.#host.call(`POST ${path}`, { decision: 'allow', inputDigest, ...answers })
  }

  #text(): string {
    return `prompt ${++this.#count}`
  }
}

function answersTo(questions: readonly { id: string; options?: readonly { label: string }[] }[]) {
  return Object.fromEntries(questions.map(({ id, options }) => [id, [options?.[0]?.label ?? 'yes']]))
}
