import { PassThrough, type Readable, type Writable } from 'node:stream'
import { press, quiet } from './key-guard.ts'
import { ENTER, ESCAPE, type Key } from './key-reader.ts'
import type { Keyboard } from './keyboard.ts'

interface PromptPlace {
  keyboard: Keyboard
  output: Writable
  signal: AbortSignal
}

interface PromptTerminal {
  input: Readable
  output: Writable
  signal: AbortSignal
}

const CHOICE_KEYS: ReadonlySet<string> = new Set([ENTER, ESCAPE, ' ', '\x1b[A', '\x1b[B', '\x1bOA', '\x1bOB'])

/** Shows a prompt once the keyboard is quiet, and passes it the keys that count: of pasted text, no Enter. */
export async function prompted<T>(
  { keyboard, output, signal }: PromptPlace,
  kind: 'text' | 'choice',
  show: (terminal: PromptTerminal) => Promise<T>,
): Promise<T> {
  while ((await quiet(keyboard, signal)) === 'redraw');
  const input = new PassThrough()
  const answered = new AbortController()
  using _ = kind === 'text' ? keyboard.listen(typing(input)) : undefined
  const choosing =
    kind === 'choice' ? choose(keyboard, input, AbortSignal.any([signal, answered.signal])) : undefined
  try {
    return await show({ input, output, signal })
  } finally {
    answered.abort()
    await choosing
  }
}

/** Several keys at once are pasted text, whose line breaks do not submit it. */
const typing = (input: Writable) => ({
  keys(keys: readonly Key[]) {
    const isPasted = keys.length > 1 || keys[0]?.kind === 'paste'
    const text = keys.map((key) => key.text).join('')
    if (text !== '') input.write(isPasted ? text.replace(/[\r\n\t]+/g, ' ') : text)
  },
  redraw: () => undefined,
})

/** Any other key, and pasted text, is not an answer: the keyboard has to be quiet again before one counts. */
async function choose(keyboard: Keyboard, input: Writable, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const pressed = await press(keyboard, signal)
    if (pressed.type === 'key' && CHOICE_KEYS.has(pressed.key)) input.write(pressed.key)
    else if (pressed.type !== 'redraw') await quiet(keyboard, signal)
  }
}
