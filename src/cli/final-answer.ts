import type { Entry } from '../model/index.ts'

/** The final answer of the latest turn: a fold over the entries. */
export class FinalAnswer {
  #text: string | undefined
  #pieces = new Map<string, string>()

  take({ event }: Entry): void {
    if (event.type === 'turn.started') {
      this.#text = undefined
      this.#pieces = new Map()
    } else if (event.type === 'text.delta' && event.parent === undefined) {
      const text = (this.#pieces.get(event.messageId) ?? '') + event.text
      this.#pieces.set(event.messageId, text)
      this.#text = text
    } else if (event.type === 'text.completed' && event.parent === undefined) {
      if (event.text !== '') this.#text = event.text
    } else if (event.type === 'turn.completed') {
      if (event.structured !== undefined) this.#text = JSON.stringify(event.structured)
      else if (event.result !== undefined && event.result !== '') this.#text = event.result
    }
  }

  /** Ends with a line break; empty if the turn had no answer. */
  get line(): string {
    const text = this.#text
    if (text === undefined || text === '') return ''
    return text.endsWith('\n') ? text : `${text}\n`
  }
}
