/**
 * Removes control sequences from agent output. They could rewrite printed text, fill the
 * clipboard, or make a command read differently from what will run.
 */

const ESC = 0x1b
const BEL = 0x07
const LF = 0x0a
const TAB = 0x09
const CSI = 0x9b
const ST = 0x9c

/** DCS, SOS, OSC, PM and APC, by the letter after ESC and as a single C1 character. */
const STRING_LETTERS = new Set([...'PX]^_'].map((letter) => letter.charCodeAt(0)))
const STRING_CONTROLS = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f])

/** Bidirectional control characters, shown as code points instead. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text without special characters: the usual case. */
const HARMLESS = /^[^\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]*$/

type ScanState = 'text' | 'escape' | 'csi' | 'string' | 'string-escape'

/** Cleans text that arrives in pieces. A sequence or a character may span two pieces. */
export class Printable {
  #state: ScanState = 'text'
  #highSurrogate = ''

  push(piece: string): string {
    if (this.#state === 'text' && this.#highSurrogate === '' && HARMLESS.test(piece)) return piece
    let out = this.#highSurrogate
    this.#highSurrogate = ''
    for (let index = 0; index < piece.length; index++) {
      const code = piece.charCodeAt(index)
      if (this.#keeps(code)) out += piece[index]
    }
    const last = out.charCodeAt(out.length - 1)
    if (last >= 0xd800 && last < 0xdc00) {
      this.#highSurrogate = out.slice(-1)
      out = out.slice(0, -1)
    }
    return out.toWellFormed().replace(BIDI, escaped)
  }

  /** Returns the held text. Half a character becomes a replacement character. */
  end(): string {
    const rest = this.#highSurrogate.toWellFormed()
    this.#highSurrogate = ''
    this.#state = 'text'
    return rest
  }

  /** Consumes one character. Returns whether to show it. */
  #keeps(code: number): boolean {
    // A line break ends every sequence, so that an unfinished one cannot hide later lines.
    if (code === LF) {
      this.#state = 'text'
      return true
    }
    switch (this.#state) {
      case 'text':
        return this.#keepsInText(code)
      case 'escape':
        return this.#afterEscape(code)
      case 'csi':
        if (code >= 0x20 && code < 0x40) return false
        this.#state = 'text'
        return code >= 0x40 && code < 0x7f ? false : this.#keepsInText(code)
      case 'string':
        if (code === ESC) this.#state = 'string-escape'
        else if (code === BEL || code === ST) this.#state = 'text'
        return false
      case 'string-escape':
        this.#state = 'text'
        return code === 0x5c ? false : this.#afterEscape(code)
      default:
        return this.#state satisfies never
    }
  }

  #keepsInText(code: number): boolean {
    if (code === ESC) this.#state = 'escape'
    else if (code === CSI) this.#state = 'csi'
    else if (STRING_CONTROLS.has(code)) this.#state = 'string'
    return code === TAB || (code >= 0x20 && code < 0x7f) || code > 0x9f
  }

  #afterEscape(code: number): boolean {
    if (code === 0x5b) this.#state = 'csi'
    else if (STRING_LETTERS.has(code)) this.#state = 'string'
    // Intermediates, as in "ESC ( B": the letter that ends the sequence is still to come.
    else if (code >= 0x20 && code < 0x30) this.#state = 'escape'
    else {
      this.#state = 'text'
      return code >= 0x30 && code < 0x7f ? false : this.#keepsInText(code)
    }
    return false
  }
}

function escaped(char: string): string {
  const hex = (char.codePointAt(0) ?? 0).toString(16)
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

/** Characters that JSON does not escape: DEL, C1 controls, and bidirectional controls. */
const UNESCAPED_IN_JSON = /[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Formats a value as JSON with its control characters escaped, which does not change the value. Also for a pipe: what is
 * read from it may end on a terminal.
 */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNESCAPED_IN_JSON, escaped)
}

/** A text without control characters except newline and tab. */
export function printable(text: string): string {
  const cleaner = new Printable()
  return cleaner.push(text) + cleaner.end()
}

/** The same on one line, so that a line break cannot forge output. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\t]+/g, ' ')
}
