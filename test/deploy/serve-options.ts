import { commandLine } from '../../src/cli/program.ts'

/** The options of `mainstem serve` that the command line reads from these arguments. */
export async function serveOptions(args: readonly string[]): Promise<Record<string, unknown>> {
  const program = await commandLine('serve')
  const serve = program.commands.find((command) => command.name() === 'serve')
  let options: Record<string, unknown> = {}
  serve?.exitOverride().action((given) => {
    options = given
  })
  program.parse(args, { from: 'user' })
  return options
}
