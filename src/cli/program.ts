import { createRequire } from 'node:module'
import { Command, CommanderError } from 'commander'
import { adviceFor, ERRORS, toMainstemError } from '../model/outcome/error-table.ts'
import { deletedDirectory } from './named-path.ts'
import { printable } from './render/printable.ts'

/** The exit code for invalid usage. */
const USAGE = 2

type Register = (program: Command) => void

const records = async (): Promise<Register> => (await import('./commands/records.ts')).registerRecords
const shell = async (): Promise<Register> => (await import('./commands/records.ts')).registerShell
const backup = async (): Promise<Register> => (await import('./commands/store.ts')).registerBackup
const contexts = async (): Promise<Register> => (await import('./contexts/command.ts')).registerContexts
const sessions = async (): Promise<Register> => (await import('./commands/sessions.ts')).registerSessions

/** Loads the module of each command on demand, because together they load the whole server. */
const COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  demo: async () => (await import('./commands/with-agents.ts')).registerDemo,
  agents: async () => (await import('./commands/with-agents.ts')).registerAgents,
  run: async () => (await import('./commands/run.ts')).registerRun,
  compare: async () => (await import('./compare/command.ts')).registerCompare,
  ls: sessions,
  attach: sessions,
  send: sessions,
  wait: sessions,
  stop: sessions,
  fork: sessions,
  compact: sessions,
  review: sessions,
  goal: sessions,
  rename: sessions,
  rewind: sessions,
  rm: sessions,
  requests: async () => (await import('./commands/requests.ts')).registerRequests,
  logs: async () => (await import('./commands/logs.ts')).registerLogs,
  replay: records,
  export: records,
  import: records,
  usage: records,
  audit: async () => (await import('./commands/records.ts')).registerAudit,
  nodes: async () => (await import('./commands/records.ts')).registerNodes,
  login: contexts,
  logout: contexts,
  logins: contexts,
  context: contexts,
  daemon: async () => (await import('./daemon/command.ts')).registerDaemon,
  restart: async () => (await import('./daemon/command.ts')).registerRestart,
  serve: async () => (await import('./daemon/with-server.ts')).registerServe,
  open: async () => (await import('./daemon/with-server.ts')).registerOpen,
  stdio: async () => (await import('./daemon/with-server.ts')).registerStdio,
  doctor: async () => (await import('./doctor/command.ts')).registerDoctor,
  backup,
  restore: backup,
  store: async () => (await import('./commands/store.ts')).registerStore,
  token: async () => (await import('./daemon/with-server.ts')).registerToken,
  grant: async () => (await import('./daemon/with-server.ts')).registerGrant,
  webhooks: async () => (await import('./commands/webhooks.ts')).registerWebhooks,
  decode: async () => (await import('./commands/with-agents.ts')).registerDecode,
  completion: shell,
  config: shell,
}

/** The command of this name with its arguments and options, or every command there is. */
export async function commandLine(name?: string): Promise<Command> {
  const { version } = createRequire(import.meta.url)('../../package.json')
  const program = new Command('mainstem')
    .description('One lossless, durable event stream for every coding agent.')
    .version(version)
    .exitOverride()
  for (const load of loadersFor(name)) (await load())(program)
  program.showHelpAfterError('List the commands with `mainstem --help`.')
  for (const command of program.commands) {
    const line = `mainstem ${command.name()}`
    command.showHelpAfterError(`Usage: ${line} ${command.usage()}\nList its options with \`${line} --help\`.`)
  }
  return program
}

/** The version needs no command, a command only itself, and the help all of them. */
function loadersFor(name: string | undefined): Iterable<() => Promise<Register>> {
  if (name === '--version' || name === '-V') return []
  const one = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return one ? [one] : new Set(Object.values(COMMANDS))
}

export async function main(): Promise<void> {
  try {
    const [, , name] = process.argv
    if (name === undefined) return await (await import('./commands/overview-action.ts')).overview()
    const program = await commandLine(name)
    await program.parseAsync()
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      process.exitCode = thrown.exitCode === 0 ? 0 : USAGE
      return
    }
    const error = toMainstemError(deletedDirectory(thrown))
    const advice = printable(adviceFor(error))
    process.stderr.write(`mainstem: ${printable(error.message)} (${error.code})\n${advice}\n`)
    process.exitCode = ERRORS[error.code].exit
  }
}
