/** A Parse message of a named statement, and its text. */
const PARSED = /P.{4}([0-9a-f]{40})\0([^\0]*)\0/gs
/** A Bind message of one. */
const BOUND = /B.{4}\0([0-9a-f]{40})\0/gs

/** The statements in what a node sends. The text of a named statement is sent once for each connection. */
export class Statements {
  readonly #texts = new Map<string, string>()

  /** All bytes of a chunk as text, and the texts of the statements that it names. Call for every chunk. */
  textOf(chunk: Buffer): string {
    const sent = chunk.toString('latin1')
    for (const [, name = '', text = ''] of sent.matchAll(PARSED)) this.#texts.set(name, text)
    const named = [...sent.matchAll(BOUND)].map(([, name = '']) => this.#texts.get(name) ?? '')
    return [sent, ...named].join('\n')
  }
}

/** Whether this is a commit of raw frames or a record alone: it has no entries, and no key that could be taken. */
export function hasNoEntries(statements: string): boolean {
  const has = (part: string) => statements.includes(`${part} AS (`)
  return (
    has('continued') &&
    (has('added_journal') || has('recorded')) &&
    !has('added_log') &&
    !has('added_receipt')
  )
}
