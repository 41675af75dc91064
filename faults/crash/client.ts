import type { ClientHistory, SentAnswer, SentPrompt } from '../check/evidence.ts'
import type { Answer, Target } from './target.ts'

/** A session as its client knows it. */
export interface Conversation {
  principal: string
  key: string
  body: { agent: string; prompt: string } & Record<string, unknown>
  session?: string
  /** What the server answered last when the session was to begin. */
  status?: number | undefined
  /** The turn that the client has seen begin and not end. */
  running?: number | undefined
  state: 'open' | 'ending' | 'deleting'
  /** The server has confirmed that it ended or deleted the session. */
  isClosed?: boolean
}

/** A command with an idempotency key, sent until it is answered, and sometimes again after that. */
interface Command {
  principal: string
  route: string
  body?: unknown
  key: string
  /** The first answer, as JSON. */
  answered?: string
  settle(answer: Answer): void
}

const DONE: readonly number[] = [200, 201, 202, 204]
/** The server is stopping, has no room, or is still busy with the same key. */
const LATER: readonly number[] = [409, 429]
/** The server could not store the command, or does not know whether another one did. */
const UNKNOWN = 500

/** Sends commands and keeps a history of them. */
export class Client {
  /** Keys that were answered in two ways. */
  readonly broken: string[] = []
  readonly #target: Target
  readonly #history: ClientHistory
  readonly #pending = new Set<Command>()
  readonly #answered: Command[] = []
  #count = 0

  constructor(target: Target, history: ClientHistory) {
    this.#target = target
    this.#history = history
  }

  /** Creates the session; `begun` is called once. */
  async begin(one: Conversation, begun: (session: string) => void): Promise<void> {
    const { principal, key, body } = one
    const isRemoved = one.session !== undefined && this.#history.deleted.has(one.session)
    const answer = await this.#target.call('POST /v1/sessions', body, this.#headers(principal, key))
    if (answer?.status !== 201) return
    const session = String(answer.body.id)
    if (isRemoved) this.broken.push(`${key} begins a session after DELETE`)
    if (one.session !== undefined && one.session !== session) this.broken.push(`${key} is two sessions`)
    if (one.session !== undefined) return
    one.session = session
    this.#history.prompts.push({ text: body.prompt, session, turn: 1 })
    begun(session)
  }

  async prompt({ session, principal }: Conversation, text: string): Promise<void> {
    if (session === undefined) return
    const prompt: SentPrompt = { text }
    this.#history.prompts.push(prompt)
    await this.#send({
      principal,
      route: `POST /v1/sessions/${session}/turns`,
      body: { prompt: text },
      key: this.#key(),
      settle({ status, body }) {
        if (status === 202) Object.assign(prompt, { session, turn: Number(body.turn) })
      },
    })
  }

  async interrupt({ session, principal, running }: Conversation): Promise<void> {
    if (session === undefined || running === undefined) return
    const { interrupts } = this.#history
    await this.#send({
      principal,
      route: `POST /v1/sessions/${session}/interrupt`,
      key: this.#key(),
      settle({ status, body }) {
        if (status === 200) interrupts.push({ session, turn: running, head: Number(body.head) })
      },
    })
  }

  /** The server may refuse it: another client was first, or the request was withdrawn. */
  async answer(
    { session = '', principal }: Conversation,
    requestId: string,
    decision: 'allow' | 'deny',
    inputDigest: unknown,
  ): Promise<void> {
    const sent: SentAnswer = { session, requestId, decision }
    this.#history.answers.push(sent)
    const route = `POST /v1/sessions/${session}/requests/${encodeURIComponent(requestId)}`
    const answer = await this.#target.call(route, { decision, inputDigest }, this.#headers(principal))
    if (answer) sent.status = answer.status
  }

  /** Ends or removes the session, whichever its state says; one that is gone already counts as removed. */
  async close(one: Conversation): Promise<void> {
    const { session, principal, state } = one
    if (session === undefined) return
    const route = state === 'deleting' ? `DELETE /v1/sessions/${session}` : `POST /v1/sessions/${session}/end`
    const answer = await this.#target.call(route, undefined, this.#headers(principal))
    one.isClosed = answer !== undefined && (DONE.includes(answer.status) || answer.status === 404)
    if (one.isClosed && state === 'deleting') this.#history.deleted.add(session)
  }

  /** The status that another principal gets for this session; 404 if all is well. */
  async spy({ session, principal }: Conversation): Promise<number | undefined> {
    const other = [...this.#target.principals.keys()].find((name) => name !== principal) ?? ''
    return (await this.#target.call(`GET /v1/sessions/${session}`, undefined, this.#headers(other)))?.status
  }

  /** Sends everything without an answer again, and one command that has an answer. */
  async retry(index: number): Promise<void> {
    const again = this.#answered[index % Math.max(1, this.#answered.length)]
    await Promise.all([...this.#pending, ...(again ? [again] : [])].map((command) => this.#send(command)))
  }

  /** Commands without an answer. */
  get open(): string[] {
    return [...this.#pending].map(({ key, route }) => `${key} (${route}) has no answer`)
  }

  get isSettled(): boolean {
    return this.#pending.size === 0
  }

  async #send(command: Command): Promise<void> {
    this.#pending.add(command)
    const { route, body, principal, key } = command
    const answer = await this.#target.call(route, body, this.#headers(principal, key))
    if (!answer || LATER.includes(answer.status) || answer.status >= UNKNOWN) {
      if (command.answered !== undefined) this.#pending.delete(command)
      // A session that has ended refuses for good.
      if (answer?.status === 409 && isOver(answer)) this.#pending.delete(command)
      return
    }
    this.#pending.delete(command)
    if (!DONE.includes(answer.status)) return
    const text = JSON.stringify(answer.body)
    if (command.answered !== undefined && command.answered !== text)
      this.broken.push(`${key} (${route}): ${command.answered} became ${text}`)
    if (command.answered !== undefined) return
    command.answered = text
    this.#answered.push(command)
    command.settle(answer)
  }

  #headers(principal: string, key?: string): Record<string, string> {
    return { ...this.#target.principals.get(principal), ...(key !== undefined && { 'idempotency-key': key }) }
  }

  #key(): string {
    return `command-${++this.#count}`
  }
}

function isOver({ body }: Answer): boolean {
  return JSON.stringify(body).includes('has ended')
}
