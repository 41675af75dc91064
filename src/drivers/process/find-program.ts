import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { MainstemError } from '../../model/index.ts'
import { missingInterpreter } from './missing-interpreter.ts'

/**
 * Resolves a program to its absolute path with the PATH of the child process. Rejects relative paths, because they
 * would start a program from the working directory.
 */
export function findProgram(program: string, path: string): string {
  const candidates = isAbsolute(program) ? [program] : candidatesOf(program, path)
  const found = candidates.find(isExecutable)
  if (found !== undefined) return checked(found, path)
  const file = candidates.find(isFile)
  if (file !== undefined) throw notReady(`${file} is not executable`, `Make it executable: chmod +x ${file}`)
  const reason = isAbsolute(program) ? `there is no program ${program}` : `${program} is not in PATH`
  throw notFound(reason, 'Install the agent, or name its program in the configuration.')
}

function candidatesOf(program: string, path: string): string[] {
  if (program === '' || program.includes('/')) {
    throw notFound(
      `"${program}" is neither an absolute path nor the name of a program`,
      'Name the program with an absolute path, or without any "/".',
    )
  }
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
}

function checked(program: string, path: string): string {
  const exists = (name: string) => (isAbsolute(name) ? [name] : candidatesOf(name, path)).some(isExecutable)
  const missing = missingInterpreter(program, exists)
  if (missing === undefined) return program
  if (isAbsolute(missing))
    throw notReady(
      `${program} needs ${missing}, which does not exist`,
      `Install ${missing}, or install the agent again.`,
    )
  throw notReady(
    `${program} needs ${missing}, which is not in PATH`,
    `Install ${missing}, or start the server with a PATH that contains it. A daemon keeps the PATH of the command that started it: run \`mainstem daemon stop\` first.`,
  )
}

/** The agent is installed but cannot run. */
function notReady(reason: string, advice: string): MainstemError {
  return new MainstemError('agent_not_ready', reason, { advice })
}

function notFound(reason: string, advice: string): MainstemError {
  return new MainstemError('agent_not_found', reason, { advice })
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    // The path is missing, inaccessible or invalid: it cannot be started.
    return false
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
  } catch {
    return false
  }
  return isFile(path)
}
