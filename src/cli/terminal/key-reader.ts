/** A key, as a character or a whole escape sequence; or text that the terminal marked as pasted. */
export interface Key {
  kind: 'key' | 'paste'
  text: string
}

export const CTRL_C = '\x03'
export const ENTER = '\r'
export const ESCAPE = '\x1b'

const PASTE_START = '\x1b[200~'
const PASTE_END = '\x1b[201~'

/** Escape and a character is that character with Alt, which is another key. */
const SEQUENCE = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O[\s\S]|[^[O])/u
const BEGIN_OF_SEQUENCE = /^\x1b(?:\[[0-?]*[ -/]*|O)?$/

/** Splits the input of a terminal into keys. A sequence may arrive in pieces. */
export class KeyReader {
  #rest = ''
  #isPasting = false

  /** Whether more input can complete a sequence. */
  get isPartial(): boolean {
    return this.#rest !== '' && !this.#isPasting
  }

  push(piece: string): Key[] {
    const keys: Key[] = []
    this.#rest += piece
    for (let key = this.#next(); key !== undefined; key = this.#next()) if (key.text !== '') keys.push(key)
    return keys
  }

  /** Takes the beginning of a sequence as a key, because nothing followed it: usually Escape. */
  flush(): Key[] {
    if (!this.isPartial) return []
    return [{ kind: 'key', text: this.#take(this.#rest.length) }]
  }

  /** The next key; undefined if the rest is incomplete. */
  #next(): Key | undefined {
    if (this.#rest === '') return undefined
    if (this.#isPasting) return this.#pasted()
    if (BEGIN_OF_SEQUENCE.test(this.#rest)) return undefined
    const [sequence] = SEQUENCE.exec(this.#rest) ?? []
    const text = this.#take(sequence?.length ?? String.fromCodePoint(this.#rest.codePointAt(0) ?? 0).length)
    if (text !== PASTE_START) return { kind: 'key', text }
    this.#isPasting = true
    return { kind: 'paste', text: '' }
  }

  /** Ctrl-C is a key even here: a paste without an end must not lock the keyboard. */
  #pasted(): Key | undefined {
    const interrupt = this.#rest.indexOf(CTRL_C)
    if (interrupt === 0) {
      this.#isPasting = false
      return { kind: 'key', text: this.#take(1) }
    }
    const end = this.#rest.indexOf(PASTE_END)
    if (end === 0) {
      this.#take(PASTE_END.length)
      this.#isPasting = false
      return { kind: 'paste', text: '' }
    }
    const ends = [interrupt, end].filter((index) => index > 0)
    const length = ends.length > 0 ? Math.min(...ends) : this.#rest.length - heldBack(this.#rest)
    return length === 0 ? undefined : { kind: 'paste', text: this.#take(length) }
  }

  #take(length: number): string {
    const taken = this.#rest.slice(0, length)
    this.#rest = this.#rest.slice(length)
    return taken
  }
}

/** How many characters at the end may belong to the sequence that ends a paste. */
function heldBack(text: string): number {
  for (let length = Math.min(PASTE_END.length - 1, text.length); length > 0; length--)
    if (PASTE_END.startsWith(text.slice(-length))) return length
  return 0
}
