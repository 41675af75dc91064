import type { Readable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'

export interface PromptInput {
  /** The prompt on the command line; `-` waits for standard input. */
  argument: string | undefined
  stdin: Readable & { isTTY?: boolean }
  /** How long an open standard input may be silent before it counts as empty. */
  silenceMs: number
  warn(message: string): void
}

/** The prompt: the argument, standard input, or both, with the input as context below the argument. */
export async function promptFrom({ argument, stdin, silenceMs, warn }: PromptInput): Promise<string> {
  if (argument === '-') return checked(await readAll(stdin))
  if (stdin.isTTY) {
    if (argument !== undefined) return checked(argument)
    throw new MainstemError('invalid_request', 'no prompt', {
      advice: 'Give it as an argument, or "-" to type it.',
    })
  }
  const input = (await hasInput(stdin, silenceMs)) ? await readAll(stdin) : undefined
  if (input === undefined) {
    // An open pipe would keep the process alive.
    stdin.destroy()
    const seconds = `${silenceMs / 1000} s`
    if (argument === undefined) {
      throw new MainstemError('invalid_request', `no prompt on standard input within ${seconds}`, {
        advice: 'Give the prompt as an argument, or "-" to wait for standard input.',
      })
    }
    warn(`no input on standard input for ${seconds}; continuing without it. Close it with </dev/null.`)
  }
  const context = input?.trim() === '' ? undefined : input
  if (argument === undefined || context === undefined) return checked(argument ?? context ?? '')
  return checked(`${argument}\n\n<stdin>\n${context.replace(/\n$/, '')}\n</stdin>`)
}

function checked(prompt: string): string {
  if (prompt.trim() === '')
    throw new MainstemError('invalid_request', 'the prompt is empty', {
      advice: 'Give it as an argument or on standard input.',
    })
  return prompt
}

/** Whether data or the end of the stream arrives in time. */
function hasInput(stdin: Readable, silenceMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const arrived = () => resolve(true)
  const timer = setTimeout(() => resolve(false), silenceMs)
  stdin.once('readable', arrived).once('end', arrived).once('error', arrived)
  return promise.finally(() => {
    clearTimeout(timer)
    stdin.off('readable', arrived).off('end', arrived).off('error', arrived)
  })
}
