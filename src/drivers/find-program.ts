import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { ERRORS, MainstemError } from '../model/index.ts'

/**
 * The absolute path of a program, looked up in the PATH that its process will have.
 * Relative paths are refused: they would start whatever the working directory has under that name.
 */
export function findProgram(program: string, path: string): string {
  if (isAbsolute(program)) {
    if (isExecutable(program)) return program
    throw notFound(isFile(program) ? `${program} is not executable` : `there is no program ${program}`)
  }
  if (program === '' || program.includes('/')) {
    throw notFound(`"${program}" is neither an absolute path nor the name of a program`)
  }
  const candidates = path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
  const found = candidates.find(isExecutable)
  if (found !== undefined) return found
  const file = candidates.find(isFile)
  throw notFound(file === undefined ? `${program} is not in PATH` : `${file} is not executable`)
}

function notFound(reason: string): MainstemError {
  return new MainstemError('agent_not_found', `${reason}. ${ERRORS.agent_not_found.advice}`)
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    // Missing, out of reach or not even a path: nothing that could be started.
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
