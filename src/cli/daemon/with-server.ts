import { Argument, type Command, InvalidArgumentError } from 'commander'
import { addServerOptions } from '../contexts/command.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import type { GrantFlags } from './grant.ts'
import type { OpenFlags } from './open.ts'
import type { ServeFlags } from './serve.ts'
import type { StdioFlags } from './stdio.ts'

// These commands load the server. Their modules are imported when they run, so that the help stays quick.

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve agents over HTTP')
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'port to listen on; 0 takes a free one (default: 7380)', parsePort)
    .option('--data <dir>', 'where the token and the logs are kept')
    .option('--store <url>', 'PostgreSQL database for the logs, instead of a file in the data directory')
    .option('--cwd <dir>', 'where agents work (default: here)')
    .option('--config <file>', 'configuration file')
    .option('--no-auth', 'disable authentication; on loopback only')
    .option('--background', 'run as the daemon of the command line: log to daemon.log, end when unused')
    .action(async (flags: ServeFlags) => (await import('./serve.ts')).runServer(flags))
}

export function registerOpen(program: Command): void {
  program
    .command('open')
    .description('open the page in a browser')
    .option('--host <host>', 'address of the server, if it listens on several')
    .option('--port <port>', 'port of the server', parsePort)
    .option('--data <dir>', 'data directory of the server')
    .option('--config <file>', 'configuration file of the server')
    .option('--context <name>', 'open the page of this server; `mainstem context` lists them')
    .option('--server <url>', 'open the page of the server at this URL')
    .option('--print', 'print the link instead of opening it')
    .action(async (flags: OpenFlags) => (await import('./open.ts')).open(flags))
}

export function registerStdio(program: Command): void {
  program
    .command('stdio')
    .description('serve one program over standard input and output')
    .option('--url <url>', 'pass the calls to a server that runs, instead of running one')
    .option('--data <dir>', 'where the token and the logs are kept')
    .option('--cwd <dir>', 'where agents work (default: here)')
    .option('--config <file>', 'configuration file')
    .action(async (flags: StdioFlags) => (await import('./stdio.ts')).runStdio(flags))
}

export function registerToken(program: Command): void {
  addServerOptions(
    program
      .command('token')
      .description('manage the tokens of the server')
      .addArgument(new Argument('<action>', 'what to do').choices(['add', 'list', 'remove']))
      .argument('[name]', 'name of the token'),
  ).action(async (action: string, name: string | undefined, flags: ServerFlags) => {
    const { token } = await import('./token.ts')
    await token(action, name, flags)
  })
}

export function registerGrant(program: Command): void {
  addServerOptions(
    program
      .command('grant')
      .description('let a token read and answer the sessions of others')
      .addArgument(new Argument('<action>', 'what to do').choices(['add', 'list', 'remove']))
      .argument('[to]', 'name of the token that may read and answer')
      .argument('[owners...]', 'names of the tokens whose sessions these are')
      .option('--json', 'list: print one JSON array'),
  ).action(async (action: string, to: string | undefined, owners: string[], flags: GrantFlags) => {
    const { grant } = await import('./grant.ts')
    await grant(action, to, owners, flags)
  })
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return port
}
