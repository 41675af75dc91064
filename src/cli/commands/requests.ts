import { Argument, type Command } from 'commander'
import { addServerOptions } from '../contexts/command.ts'
import type { ServerFlags } from '../contexts/connect.ts'

export interface RequestsFlags extends ServerFlags {
  session?: boolean
  reason?: string
  json?: boolean
}

/** `mainstem requests`: what agents wait for, and the answers. */
export function registerRequests(program: Command): void {
  addServerOptions(
    program
      .command('requests')
      .description('list open requests of agents, and answer them')
      .addArgument(
        new Argument('[action]', 'what to do').choices(['ls', 'allow', 'deny', 'answer']).default('ls'),
      )
      .argument(
        '[request]',
        'reference of the request; its id, or a session with one open request, where you can be asked',
      )
      .argument('[answers...]', 'the answer to each question, in order')
      .option('--session', 'allow it for the rest of the session')
      .option('--reason <text>', 'tell the agent why it is denied')
      .option('--json', 'print one JSON object a line'),
  ).action(async (action: string, ref: string | undefined, answers: string[], flags: RequestsFlags) => {
    const { requests } = await import('./requests-action.ts')
    await requests(action, ref, answers, flags)
  })
}
