import { setTimeout as sleep } from 'node:timers/promises'
import type { Findings } from '../check/findings.ts'
import { allEvents, type Message, Refused } from './protocols.ts'
import type { Target } from './target.ts'

const RETRY_MS = 20

/** Follows `/v1/events` as one principal. A cursor lives as long as its server; then the reader begins again. */
export class AllEvents {
  readonly #principal: string
  readonly #target: Target
  readonly #stopped = new AbortController()
  #connection = new AbortController()
  /** By session: the entries of each uninterrupted stretch. */
  readonly #stretches: Map<string, Map<number, string>>[] = []
  /** Entries that came a second time in one stretch. */
  #repeated = 0
  #last: string | undefined

  constructor(target: Target, principal: string) {
    this.#target = target
    this.#principal = principal
    void this.#run()
  }

  cut(): void {
    this.#connection.abort()
  }

  stop(): void {
    this.#stopped.abort()
    this.#connection.abort()
  }

  async #run(): Promise<void> {
    const headers = this.#target.principals.get(this.#principal) ?? {}
    while (!this.#stopped.signal.aborted) {
      const url = await this.#target.url
      this.#connection = new AbortController()
      const { signal } = this.#connection
      if (this.#last === undefined) this.#stretches.push(new Map())
      const take = (message: Message) => !signal.aborted && this.#take(message)
      try {
        await allEvents()({ url, headers, signal, last: this.#last, take })
      } catch (thrown) {
        if (thrown instanceof Refused) this.#last = undefined
      }
      await sleep(RETRY_MS)
    }
  }

  #take({ id, text }: Message): void {
    const { cursor: _, ...entry } = JSON.parse(text)
    const stretch = this.#stretches.at(-1)
    const shown = stretch?.get(entry.session) ?? new Map<number, string>()
    if (shown.has(entry.seq)) this.#repeated++
    shown.set(entry.seq, JSON.stringify(entry))
    stretch?.set(entry.session, shown)
    this.#last = id
  }

  /** Compares with the logs; a deleted session has none. */
  check(
    logs: ReadonlyMap<string, readonly string[]>,
    principalOf: (session: string) => string | undefined,
    found: Findings,
  ): void {
    if (this.#repeated > 0)
      found.add('repeated', `/v1/events showed ${this.#principal} ${this.#repeated} entries twice`)
    for (const [session, shown] of this.#stretches.flatMap((stretch) => [...stretch])) {
      const name = `/v1/events of ${this.#principal}, ${session}`
      const owner = principalOf(session)
      if (owner !== undefined && owner !== this.#principal)
        found.add('principal', `${name} is owned by ${owner}`)
      const seqs = [...shown.keys()]
      const gap = seqs.findIndex((seq, index) => index > 0 && seq !== (seqs[index - 1] ?? 0) + 1)
      if (gap > 0) found.add('gap', `${name}: ${seqs[gap]} follows ${seqs[gap - 1]}`)
      const log = logs.get(session)
      const wrong = log && seqs.find((seq) => log[seq - 1] !== shown.get(seq))
      if (wrong !== undefined) found.add('lost', `${name}: entry ${wrong} is not what the log has`)
    }
  }
}
