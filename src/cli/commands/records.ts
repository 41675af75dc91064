import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { AuditAction } from '../../model/access.ts'
import { addServerOptions } from '../contexts/command.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import type { LocalFlags } from '../daemon/data-directory.ts'
import { AUDIT_ACTIONS } from './choices.ts'
import { since } from './logs.ts'
import { addLocalOptions } from './run.ts'

const SESSION = 'id, beginning of an id, name, or "last"'

export interface ReplayFlags extends ServerFlags {
  speed: number
}

export interface ExportFlags extends ServerFlags {
  format: 'ndjson' | 'md' | 'html'
}

export interface UsageFlags extends ServerFlags {
  json?: boolean
}

export interface AuditFlags extends ServerFlags {
  principal?: string
  session?: string
  action?: AuditAction
  since?: number
  until?: number
  limit: number
  json?: boolean
}

export interface NodesFlags extends ServerFlags {
  json?: boolean
}

/** Commands that read stored sessions. */
export function registerRecords(program: Command): void {
  addServerOptions(
    program
      .command('replay')
      .description('replay a session at its recorded speed')
      .argument('[session]', SESSION, 'last')
      .option('--speed <factor>', 'playback speed as a multiple of the recorded speed', factor, 1),
  ).action(async (ref: string, flags: ReplayFlags) => {
    const { replay } = await import('./replay-action.ts')
    await replay(ref, flags)
  })
  addServerOptions(
    program
      .command('export')
      .description('print a session as NDJSON, Markdown or HTML')
      .argument('[session]', SESSION, 'last')
      .addOption(
        new Option('--format <format>', 'the format').choices(['ndjson', 'md', 'html']).default('ndjson'),
      ),
  ).action(async (ref: string, flags: ExportFlags) => {
    const { exportSession } = await import('./export-action.ts')
    await exportSession(ref, flags)
  })
  addServerOptions(
    program
      .command('import')
      .description('import an exported session')
      .argument('<file>', 'NDJSON that `mainstem export` wrote; "-" for standard input'),
  ).action(async (file: string, flags: ServerFlags) => {
    const { importSession } = await import('./import-action.ts')
    await importSession(file, flags)
  })
  addServerOptions(
    program
      .command('usage')
      .description('show tokens and cost by agent and by day')
      .option('--json', 'print one JSON object'),
  ).action(async (flags: UsageFlags) => {
    const { usage } = await import('./usage-action.ts')
    await usage(flags)
  })
}

/** Shows who did what. */
export function registerAudit(program: Command): void {
  const time = 'a duration such as 90s, 10m, 2h or 3d before now, or a time such as 2026-01-31T12:00Z'
  addServerOptions(
    program
      .command('audit')
      .description('show who did what, for operators')
      .option('--principal <name>', 'only what this principal did')
      .option('--session <id>', 'only what was done to this session; its whole id')
      .addOption(new Option('--action <action>', 'only this action').choices(AUDIT_ACTIONS))
      .option('--since <time>', `only what is newer: ${time}`, since)
      .option('--until <time>', 'only what is older', since)
      .option('--limit <number>', 'the newest rows to show', count, 100)
      .option('--json', 'print NDJSON, one row a line'),
  ).action(async (flags: AuditFlags) => {
    const { audit } = await import('./audit-action.ts')
    await audit(flags)
  })
}

/** Shows the servers that share a store. */
export function registerNodes(program: Command): void {
  addServerOptions(
    program
      .command('nodes')
      .description('list the servers that share the store')
      .option('--json', 'print one JSON array'),
  ).action(async (flags: NodesFlags) => {
    const { nodes } = await import('./nodes-action.ts')
    await nodes(flags)
  })
}

/** Commands about the command line itself. */
export function registerShell(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(
      new Argument('<shell>', 'which shell; "sessions" prints what the script completes').choices([
        'bash',
        'zsh',
        'fish',
        'sessions',
      ]),
    )
    .action(async (shell: 'bash' | 'zsh' | 'fish' | 'sessions') => {
      const { completion, sessionNames } = await import('../completion.ts')
      if (shell === 'sessions') return console.log((await sessionNames()).join('\n'))
      const { commandLine } = await import('../program.ts')
      const { agentIds } = await import('../../compose/readiness.ts')
      console.log(completion(shell, await commandLine(), agentIds()))
    })
  addLocalOptions(
    program
      .command('config')
      .description('print the effective configuration')
      .addArgument(new Argument('<action>', 'what to do').choices(['show'])),
  ).action(async (_action: string, flags: LocalFlags) => {
    const { showConfig } = await import('./config-action.ts')
    await showConfig(flags)
  })
}

function count(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw new InvalidArgumentError('Give a whole number above 0.')
}

function factor(value: string): number {
  const number = Number(value)
  if (!Number.isFinite(number) || number <= 0) throw new InvalidArgumentError('Give a number above 0.')
  return number
}
