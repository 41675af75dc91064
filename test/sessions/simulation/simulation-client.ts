import type { ClientHistory, SentAnswer, SentPrompt } from '../../../faults/check/evidence.ts'
import type { Claim } from '../../../src/sessions/claim.ts'
import type { SessionHandle } from '../../../src/sessions/session-handle.ts'
import type { Sessions } from '../../../src/sessions/sessions.ts'
import type { Store } from '../../../src/stores/store.ts'

interface Pending {
  prompt: SentPrompt
  claim: Claim
}

/** The client of one simulated session. Its prompts have idempotency keys and are sent until they are answered. */
export class SimulatedClient {
  readonly history: ClientHistory
  readonly #store: Store
  readonly #pending = new Set<Pending>()
  readonly #answered: Pending[] = []
  /** Keys that were answered in two ways. */
  readonly broken: string[] = []

  constructor(store: Store, history: ClientHistory) {
    this.#store = store
    this.history = history
  }

  async prompt(sessions: Sessions, session: SessionHandle, text: string): Promise<void> {
    const prompt: SentPrompt = { text }
    this.history.prompts.push(prompt)
    const claim: Claim = {
      scope: session.id,
      key: text,
      fingerprint: text,
      answer: 'turn',
    }
    await this.#send(sessions, session, { prompt, claim })
  }

  /** Sends again what has no answer, and one prompt that has one. */
  async retry(sessions: Sessions, session: SessionHandle): Promise<void> {
    for (const one of [...this.#pending, ...this.#answered.slice(-1)])
      await this.#send(sessions, session, one)
  }

  async #send(sessions: Sessions, session: SessionHandle, pending: Pending): Promise<void> {
    const { prompt, claim } = pending
    this.#pending.add(pending)
    try {
      const turn = await this.#turnOf(sessions, session, pending)
      if (prompt.turn !== undefined && prompt.turn !== turn)
        this.broken.push(`${claim.key} was turn ${prompt.turn}, then ${turn}`)
      if (prompt.turn === undefined) this.#answered.push(pending)
      Object.assign(prompt, { session: session.id, turn })
    } catch {
      // It was refused: the session has ended, drains, or its storage failed. It may be sent again.
      return
    }
    this.#pending.delete(pending)
  }

  async #turnOf(sessions: Sessions, session: SessionHandle, { prompt, claim }: Pending): Promise<number> {
    // As the gateway does: the same request may be on its way, here or through another node.
    const flight = await sessions.receipts.inFlight.enter(claim)
    try {
      const receipt = await sessions.receipts.find(claim)
      const turn = receipt ? Reflect.get(Object(receipt.answer), 'turn') : undefined
      return typeof turn === 'number' ? turn : await session.prompt(prompt.text, [], { claims: [claim] })
    } finally {
      flight.leave()
    }
  }

  async interrupt(session: SessionHandle): Promise<void> {
    const turn = (await this.#store.record(session.id))?.openTurn
    await session.interrupt()
    if (turn !== undefined)
      this.history.interrupts.push({ session: session.id, turn, head: await this.#store.head(session.id) })
  }

  async answer(session: SessionHandle, requestId: string, decision: 'allow' | 'deny'): Promise<void> {
    const sent: SentAnswer = { session: session.id, requestId, decision }
    this.history.answers.push(sent)
    try {
      const { requests = [] } = (await this.#store.record(session.id)) ?? {}
      const inputDigest = requests.find((open) => open.requestId === requestId)?.inputDigest ?? ''
      await session.answer({ type: 'answer', requestId, inputDigest, decision })
      sent.status = 200
    } catch {
      // Another decision was first, or the request is gone.
      sent.status = 409
    }
  }
}
