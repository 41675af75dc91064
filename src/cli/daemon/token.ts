import { Argument, type Command } from 'commander'
import { loadConfig } from '../../daemon/config.ts'
import { addToken, removeToken, tokenNames } from '../../daemon/named-tokens.ts'
import { MainstemError } from '../../model/index.ts'

interface TokenFlags {
  data?: string
  config?: string
}

/** `mainstem token`: manages the tokens of the server. */
export function registerToken(program: Command): void {
  program
    .command('token')
    .description('manage the tokens of the server')
    .addArgument(new Argument('<action>', 'what to do').choices(['add', 'list', 'remove']))
    .argument('[name]', 'name of the token')
    .option('--data <dir>', 'where the tokens are kept')
    .option('--config <file>', 'configuration file')
    .action(token)
}

async function token(action: string, name: string | undefined, flags: TokenFlags): Promise<void> {
  const { data } = await loadConfig({ flags, environment: process.env, cwd: process.cwd() })
  if (action === 'list') {
    for (const one of await tokenNames(data)) console.log(one)
    return
  }
  if (name === undefined) throw new MainstemError('invalid_request', `token ${action}: give a name`)
  if (action === 'add') {
    // Alone on its line, so that a script can take it.
    console.log(await addToken(data, name))
    console.error('This is shown once. Only its digest is kept.')
  } else {
    await removeToken(data, name)
    console.log(`removed ${name}`)
  }
}
