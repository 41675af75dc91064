import { Argument, type Command } from 'commander'

export interface StoreFlags {
  restart?: boolean
  json?: boolean
}

export interface BackupFlags {
  data?: string
  store?: string
  config?: string
  json?: boolean
}

/** `mainstem backup` and `mainstem restore`. */
export function registerBackup(program: Command): void {
  const options = (command: Command) =>
    command
      .option('--data <dir>', 'data directory of the server')
      .option('--store <url>', 'PostgreSQL database of the server')
      .option('--config <file>', 'configuration file of the server')
      .option('--json', 'print one JSON object')
  options(
    program
      .command('backup')
      .description('copy everything that a server has stored to a directory, while it runs')
      .argument('<dir>', 'a directory that does not exist yet'),
  ).action(async (to: string, flags: BackupFlags) => {
    process.title = 'mainstem backup'
    await (await import('./store-action.ts')).backUp(to, flags)
  })
  options(
    program
      .command('restore')
      .description('copy a backup into the empty store of a server')
      .argument('<dir>', 'the directory that `mainstem backup` wrote'),
  ).action(async (from: string, flags: BackupFlags) => {
    process.title = 'mainstem restore'
    await (await import('./store-action.ts')).restoreInto(from, flags)
  })
}

/** `mainstem store`: moves what a server has stored. */
export function registerStore(program: Command): void {
  program
    .command('store')
    .description('copy everything that a server has stored to another store')
    .addArgument(new Argument('<action>', 'what to do').choices(['copy']))
    .argument('<from>', 'data directory, database file or PostgreSQL URL')
    .argument('<to>', 'the same, for an empty store; a directory is created')
    .option('--restart', 'discard an unfinished copy instead of continuing it')
    .option('--json', 'print one JSON object')
    .action(async (_action: string, from: string, to: string, flags: StoreFlags) => {
      // The arguments of a process are public, and a URL may have a password.
      process.title = 'mainstem store copy'
      const { storeCopy } = await import('./store-action.ts')
      await storeCopy(from, to, flags)
    })
}
