import { Argument, type Command } from 'commander'
import type { LoginFlags } from './login.ts'
import type { LoginsFlags } from './logins.ts'

/** Selects the server of a command. */
export function addServerOptions(command: Command): Command {
  return command
    .option('--context <name>', 'use this server; `mainstem context` lists them')
    .option('--server <url>', 'use the server at this URL')
    .option('--data <dir>', 'use the server of this data directory')
    .option('--config <file>', 'configuration file of the server of this machine')
}

/** The commands that choose a server on another machine. */
export function registerContexts(program: Command): void {
  program
    .command('login')
    .description('log in to a server on another machine, and use it from then on')
    .argument('<url>', 'URL of the server, such as https://agents.example.com')
    .option('--name <name>', 'name of the context (default: the host of the URL)')
    .option('--ca <file>', 'certificate of an authority to trust for this server, in PEM')
    .option('--token-stdin', 'read a token from standard input instead of asking on the page')
    .action(async (url: string, flags: LoginFlags) => (await import('./login.ts')).login(url, flags))
  program
    .command('logout')
    .description('remove the token of this machine from a server')
    .argument('[context]', 'name of the context (default: the current one)')
    .action(async (name: string | undefined) => (await import('./logout.ts')).logout(name))
  addServerOptions(
    program
      .command('logins')
      .description('list the machines that are logged in as you')
      .option('--remove <id>', 'remove this login, for a machine that you no longer have')
      .option('--json', 'print one JSON array'),
  ).action(async (flags: LoginsFlags) => (await import('./logins.ts')).logins(flags))
  program
    .command('context')
    .description('list the servers that you are logged in to, or choose one')
    .addArgument(new Argument('[action]', 'what to do').choices(['list', 'use', 'remove']).default('list'))
    .argument('[name]', 'name of the context; "local" is the server of this machine')
    .action(async (action: string, name: string | undefined) =>
      (await import('./context-action.ts')).context(action, name),
    )
}
