import { type Command, InvalidArgumentError, Option } from 'commander'
import { addServerOptions } from '../contexts/command.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import { DIALECTS } from './choices.ts'

export interface LogsFlags extends ServerFlags {
  follow?: boolean
  raw?: boolean
  json?: boolean
  dialect?: string
  since?: number
  full?: boolean
  changes?: boolean
}

/** `mainstem logs`: the log of a session on standard output. */
export function registerLogs(program: Command): void {
  addServerOptions(
    program
      .command('logs')
      .description('print the log of a session')
      .argument('[session]', 'id, beginning of an id, name, or "last"', 'last')
      .option('-f, --follow', 'wait for more, until the session ends or Ctrl-C')
      .addOption(new Option('--full', 'show outputs and changes whole').conflicts(['raw', 'json', 'dialect']))
      .addOption(
        new Option('--changes', 'show only the changed files, whole').conflicts(['raw', 'json', 'dialect']),
      )
      .addOption(
        new Option('--raw', 'print what the agent wrote, and after ">" what was sent to it').conflicts([
          'json',
          'dialect',
          'follow',
        ]),
      )
      .addOption(new Option('--json', 'print the entries, one JSON object a line').conflicts('dialect'))
      .addOption(
        new Option('--dialect <dialect>', 'print the messages of a dialect, one JSON object a line').choices(
          DIALECTS,
        ),
      )
      .option(
        '--since <time>',
        'only what is newer: 90s, 10m, 2h, 3d, or a time such as 2026-01-31T12:00Z',
        since,
      ),
  ).action(async (ref: string, flags: LogsFlags) => {
    const { logs } = await import('./logs-action.ts')
    await logs(ref, flags)
  })
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A moment in milliseconds since 1970. */
export function since(text: string): number {
  const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const at = number === undefined ? Date.parse(text) : Date.now() - Number(number) * (UNITS[unit] ?? 0)
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Give a duration such as 10m, or a time such as 2026-01-31T12:00Z.')
  return at
}
