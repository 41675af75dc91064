import { Argument, type Command } from 'commander'

export interface StoreFlags {
  restart?: boolean
  json?: boolean
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
