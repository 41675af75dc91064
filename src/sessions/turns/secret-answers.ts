import { Mask } from '../../mask/mask.ts'
import type { Event } from '../../model/index.ts'
import type { Sent } from '../machine/sent.ts'

type Resolved = Extract<Event, { type: 'request.resolved' }>

/**
 * Hides the answers to questions that the agent marked as secret: in the log, in the journal, and in what the agent
 * writes afterwards. The agent receives them.
 */
export class SecretAnswers {
  readonly #mask: Mask
  /** The secret questions of open requests, by request id. */
  readonly #questions = new Map<string, ReadonlySet<string>>()
  /** The last secret answer: its step is written right after its event. */
  #last: { requestId: string; mask: Mask } | undefined

  constructor(mask: Mask) {
    this.#mask = mask
  }

  /** The event as it may be logged. */
  hide(event: Event): Event {
    if (event.type === 'turn.completed') this.#questions.clear()
    if (event.type === 'request.withdrawn') this.#questions.delete(event.requestId)
    if (event.type === 'request.opened') {
      const secret = (event.questions ?? []).filter((question) => question.secret).map(({ id }) => id)
      this.#questions.delete(event.requestId)
      if (secret.length > 0) this.#questions.set(event.requestId, new Set(secret))
    }
    return event.type === 'request.resolved' ? this.#resolved(event) : event
  }

  #resolved(event: Resolved): Event {
    const { requestId, answers } = event
    const secret = this.#questions.get(requestId)
    this.#questions.delete(requestId)
    if (!secret || !answers) return event
    const given = Object.entries(answers)
    const values = given.flatMap(([id, chosen]) => (secret.has(id) ? chosen : []))
    this.#mask.add({ lent: values })
    this.#last = { requestId, mask: new Mask({ lent: values }, 1) }
    const hidden = given.map(([id, chosen]) => [id, secret.has(id) ? chosen.map(marked) : chosen])
    return { ...event, answers: Object.fromEntries(hidden) }
  }

  /** The journal text of a step. A short answer is hidden in its own step only, because its text occurs elsewhere. */
  journal(sent: Sent, text: string): string {
    const command = 'writes' in sent ? sent.command : undefined
    if (command?.type !== 'answer' || command.requestId !== this.#last?.requestId) return text
    return JSON.stringify(this.#last.mask.value(JSON.parse(text)))
  }
}

const marked = (text: string) => `[masked ${text.length}]`
