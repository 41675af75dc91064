/** One event as a client sees it. */
export interface Received {
  id: string
  data: Record<string, unknown>
}

/** The events that arrived whole. */
export function parseEvents(stream: string): Received[] {
  return stream
    .split('\n\n')
    .slice(0, -1)
    .filter((block) => block.includes('\ndata: '))
    .map((block) => {
      const [, id = '', data = ''] = /^id: (.*)\ndata: (.*)$/.exec(block) ?? []
      return { id, data: JSON.parse(data) }
    })
}

/** Reads a response piece by piece. */
export class StreamReader {
  readonly #reader: ReadableStreamDefaultReader<string>
  text = ''

  constructor(response: Response) {
    if (!response.body) throw new Error('a stream has a body')
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** Reads on until it has this text. */
  async until(text: string): Promise<void> {
    while (!this.text.includes(text)) {
      if (!(await this.#more())) throw new Error(`the stream ended without ${text}: ${this.text}`)
    }
  }

  /** Reads to the end, and returns all there was. */
  async whole(): Promise<string> {
    while (await this.#more());
    return this.text
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#reader.read()
    this.text += value ?? ''
    return !done
  }
}
