/**
 * Tokens that follow each other in a text. The last one matches every token that begins with it, so that a search
 * finds something while its last word is still being typed.
 */
export type SearchTerm = readonly string[]

/** A part of a text: from a character up to another one, which is not in it. */
export interface TextRange {
  start: number
  end: number
}

/** Characters of a text that are searched; the rest of a longer one is not. */
export const SEARCH_CHARS = 64 * 1024

/** Longer runs of letters, such as encoded data, are cut to this many characters. */
const TOKEN_CHARS = 40

/** Scripts that put no spaces between words: each character is a token, and a word is several that follow each other. */
const UNSPACED = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const TOKEN = new RegExp(`[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, 'gu')
const PLAIN_TOKEN = /[a-z0-9]+/gi
const ACCENTS = /[\u0300-\u036f]/g

/**
 * Splits a text into the tokens that a search compares: runs of letters and digits in lower case, without accents.
 * Every other character separates tokens, so `src/cart.ts` has the tokens `src`, `cart` and `ts`.
 */
export function searchTokens(text: string): string[] {
  return Array.from(matchesOf(text), ([token]) => normal(token))
}

/** One term for each word of a query; words without a letter or a digit are left out. */
export function searchTerms(query: string): SearchTerm[] {
  return query
    .split(/\s+/)
    .map(searchTokens)
    .filter(({ length }) => length > 0)
}

/** Whether a text contains every term. */
export function matchesTerms(text: string, terms: readonly SearchTerm[]): boolean {
  const tokens = searchTokens(text)
  return terms.every((term) => tokens.some((_, at) => isTermAt(tokens, at, term)))
}

/** Where the terms occur in a text, in the order of the text, as far as the caller asks. */
export function* rangesIn(text: string, terms: readonly SearchTerm[]): Generator<TextRange> {
  const ahead = Math.max(...terms.map(({ length }) => length))
  const matches = matchesOf(text)
  const found: RegExpExecArray[] = []
  const tokens: string[] = []
  let end = 0
  for (;;) {
    while (found.length < ahead) {
      const { value, done } = matches.next()
      if (done) break
      found.push(value)
      tokens.push(normal(value[0]))
    }
    const [first] = found
    if (!first) return
    const lengths = terms.filter((term) => isTermAt(tokens, 0, term)).map(({ length }) => length)
    const last = found[Math.max(...lengths) - 1]
    if (last && first.index >= end) {
      end = last.index + last[0].length
      yield { start: first.index, end }
    }
    found.shift()
    tokens.shift()
  }
}

function isTermAt(tokens: readonly string[], at: number, term: SearchTerm): boolean {
  const last = term.length - 1
  return term.every((token, index) => {
    const found = tokens[at + index]
    return index === last ? found?.startsWith(token) : found === token
  })
}

function matchesOf(text: string): RegExpStringIterator<RegExpExecArray> {
  const searched = text.length > SEARCH_CHARS ? text.slice(0, SEARCH_CHARS) : text
  return searched.matchAll(isPlain(searched) ? PLAIN_TOKEN : TOKEN)
}

/** Composed again at the end, because taking accents off also takes Korean syllables apart. */
function normal(token: string): string {
  const lower = token.toLowerCase()
  const plain = isPlain(lower) ? lower : lower.normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC')
  return plain.length > TOKEN_CHARS ? plain.slice(0, TOKEN_CHARS) : plain
}

function isPlain(text: string): boolean {
  return !/[^ -~\s]/.test(text)
}
