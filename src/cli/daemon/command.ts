import { Argument, type Command } from 'commander'
import { addLocalOptions } from '../commands/run.ts'
import type { LocalFlags } from './data-directory.ts'

/** `mainstem daemon`: the server that the other commands start in the background. */
export function registerDaemon(program: Command): void {
  addLocalOptions(
    program
      .command('daemon')
      .description('show or stop the background server')
      .addArgument(new Argument('[action]', 'what to do').choices(['status', 'stop']).default('status')),
  ).action(async (action: string, flags: LocalFlags) => {
    const { daemon } = await import('./action.ts')
    await daemon(action, flags)
  })
}

/** `mainstem restart`: another process for the server, such as one with a new version. */
export function registerRestart(program: Command): void {
  addLocalOptions(
    program.command('restart').description('replace the process of the server; its agents work on'),
  ).action(async (flags: LocalFlags) => {
    const { restart } = await import('./restart.ts')
    await restart(flags)
  })
}
