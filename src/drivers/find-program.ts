import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { MainstemError } from '../model/index.ts'

/**
 * Resolves a program to its absolute path with the PATH of the child process. Rejects relative paths, because they
 * would start a program from the working directory.
 */
export function findProgram(program: string, path: string): string {
  if (isAbsolute(program)) {
    if (isExecutable(program)) return program
    if (isFile(program)) throw notExecutable(program)
    throw notFound(`there is no program ${program}`, INSTALL)
  }
  if (program === '' || program.includes('/')) {
    throw notFound(
      `"${program}" is neither an absolute path nor the name of a program`,
      'Name the program with an absolute path, or without any "/".',
    )
  }
  const candidates = path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
  const found = candidates.find(isExecutable)
  if (found !== undefined) return found
  const file = candidates.find(isFile)
  throw file === undefined ? notFound(`${program} is not in PATH`, INSTALL) : notExecutable(file)
}

const INSTALL = 'Install the agent, or name its program in the configuration.'

function notExecutable(path: string): MainstemError {
  return notFound(`${path} is not executable`, `Make it executable: chmod +x ${path}`)
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
