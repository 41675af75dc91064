/** Something that reads JSON; the engine's own is one. */
export interface Parser {
  /** Throws when the text is not JSON. */
  parse(text: string): unknown
}
