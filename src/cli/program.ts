import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { adviceFor, ERRORS, toMainstemError } from '../model/index.ts'
import { registerAgents } from './agents.ts'
import { registerDecode } from './decode.ts'
import { registerDemo } from './demo.ts'
import { registerDoctor } from './doctor.ts'
import { registerOpen } from './open.ts'
import { printable } from './printable.ts'
import { registerRun } from './run.ts'
import { registerServe } from './serve.ts'
import { registerStdio } from './stdio.ts'
import { registerToken } from './token.ts'

/** The exit code for a command line that makes no sense. */
const USAGE = 2

/** Every command, its arguments and its options. */
export function commandLine(): Command {
  const { version } = createRequire(import.meta.url)('../../package.json')
  const program = new Command('mainstem')
    .description('One lossless, durable event stream for every coding agent.')
    .version(version)
    .showHelpAfterError('(try --help)')
    .exitOverride()
  for (const register of [
    registerDemo,
    registerAgents,
    registerRun,
    registerServe,
    registerOpen,
    registerStdio,
    registerDoctor,
    registerToken,
    registerDecode,
  ])
    register(program)
  return program
}

export async function main(): Promise<void> {
  try {
    await commandLine().parseAsync()
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      process.exitCode = thrown.exitCode === 0 ? 0 : USAGE
      return
    }
    const error = toMainstemError(thrown)
    const advice = printable(adviceFor(error))
    process.stderr.write(`mainstem: ${printable(error.message)} (${error.code})\n${advice}\n`)
    process.exitCode = ERRORS[error.code].exit
  }
}
