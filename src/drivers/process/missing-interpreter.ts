import { closeSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'

/** Linux reads no more of the first line of a script. */
const MAX_LINE = 256

/** The line that names the interpreter of a script: its path, and its arguments. */
const INTERPRETER = /^#![ \t]*(\S+)[ \t]*([^\n]*)/

/** Options of `env` and variables, which come before the name of the program. */
const OPTION_OF_ENV = /^(?:-.*|\w+=.*)?$/

/**
 * The interpreter that a script names and that does not exist. The system reports the script itself as missing, or `env`
 * fails as if the script had run.
 */
export function missingInterpreter(script: string, exists: (program: string) => boolean): string | undefined {
  const [, interpreter, rest = ''] = INTERPRETER.exec(firstLine(script)) ?? []
  if (interpreter === undefined) return undefined
  if (!exists(interpreter)) return interpreter
  if (basename(interpreter) !== 'env') return undefined
  const name = rest.split(/[ \t]+/).find((word) => !OPTION_OF_ENV.test(word))
  return name === undefined || exists(name) ? undefined : name
}

/** Empty if the file may be started but not read. */
function firstLine(path: string): string {
  const buffer = Buffer.alloc(MAX_LINE)
  try {
    const file = openSync(path, 'r')
    try {
      return buffer.toString('latin1', 0, readSync(file, buffer))
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}
