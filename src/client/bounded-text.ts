import { MainstemError } from '../model/outcome/mainstem-error.ts'
import type { HttpResponse } from './transports/connection.ts'

/** The most characters of one response, message or line, for servers that never end one. */
export const LONGEST = 64 * 1024 * 1024

/** Reads a response as text. Stops reading and fails if it is longer than `longest`. */
export async function boundedText(response: HttpResponse, longest = LONGEST): Promise<string> {
  if (!response.body) return response.text()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return text
      text += value
      if (text.length > longest) throw tooLong(longest)
    }
  } finally {
    // Ends the transfer of what is not read.
    await reader.cancel().catch((thrown: unknown) => thrown)
  }
}

/** Reads a response in lines, which arrive in groups. What follows the last line break is no line. */
export async function* linesIn(body: HttpResponse['body']): AsyncGenerator<readonly string[], void, void> {
  let rest = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST) throw tooLong()
    yield lines
  }
}

export function tooLong(longest = LONGEST): MainstemError {
  return new MainstemError('protocol_error', `the server sent more than ${longest} characters without an end`)
}
