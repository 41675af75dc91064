/** What a client of any API has heard. */
export interface Heard {
  thinking: string
  text: string
  /** The pieces in which the text came. */
  pieces: string[]
  calls: { id: string; name: string; input: unknown }[]
  stop: string
  usage: unknown
}

export interface Turn {
  role: 'user' | 'assistant' | 'tool'
  text: string
}

export interface Tool {
  name: string
  parameters: readonly string[]
}

export interface StreamMessage {
  event?: string
  data: string
}

/** The smallest client of one API, with schemas that follow the vendor's reference and not our server. */
export interface Client {
  name: string
  path(streaming: boolean): string
  body(turns: readonly Turn[], tools: readonly Tool[], streaming: boolean): object
  whole(body: unknown): Heard
  stream(messages: readonly StreamMessage[]): Heard
  /** The message in an error body; throws when it is not the vendor's. */
  problem(body: unknown): string
  /** The failure told inside a stream. */
  failure(message: StreamMessage): string
  stops: Record<'end' | 'tools' | 'length' | 'refusal', string>
  /** 70 tokens read, 30 more from a cache, 20 written, of which 5 are thought. */
  usage: object
}

export function nothingHeard(): Heard {
  return { thinking: '', text: '', pieces: [], calls: [], stop: '', usage: undefined }
}

export function hear(heard: Heard, piece: string): void {
  heard.text += piece
  heard.pieces.push(piece)
}

export function schemaOf({ parameters }: Tool): object {
  return { type: 'object', properties: Object.fromEntries(parameters.map((name) => [name, {}])) }
}
