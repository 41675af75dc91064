import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { wire } from '../compose/wire.ts'
import { loadConfig } from '../daemon/config.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { dialects } from '../dialects/index.ts'
import { Approval, exitCodeOf, LaunchKind, MainstemError, type Policy, Sandbox } from '../model/index.ts'
import { askAt } from './ask.ts'
import { drive } from './drive.ts'
import { interrupts } from './interrupts.ts'
import { Printer } from './printer.ts'
import { showAs, showRequests, showToPeople } from './show.ts'

interface RunFlags {
  config?: string
  cwd: string
  model?: string
  launch?: LaunchKind
  approval: Approval
  sandbox: Sandbox
  timeout?: number
  json?: boolean
  to?: string
}

export function registerRun(program: Command): void {
  program
    .command('run')
    .description('give an agent one prompt and watch it work')
    .argument('<agent>', 'which agent')
    .argument('[prompt]', 'what to do; read from standard input if left out or "-"')
    .option('--cwd <dir>', 'where the agent works', '.')
    .option('--config <file>', 'configuration file')
    .option('--model <name>', 'the model to ask for')
    .addOption(new Option('--launch <kind>', 'how to run the agent').choices(LaunchKind.options))
    .addOption(
      new Option('--approval <mode>', 'what the agent may do without asking')
        .choices(Approval.options)
        .default('ask'),
    )
    .addOption(
      new Option('--sandbox <mode>', "the agent's own sandbox").choices(Sandbox.options).default('none'),
    )
    .option('--timeout <seconds>', 'interrupt the turn after this time', seconds)
    .addOption(new Option('--json', 'print the entries, one JSON a line').conflicts('to'))
    .addOption(
      new Option('--to <dialect>', 'print the messages of a dialect, one JSON a line').choices([
        ...dialects.keys(),
      ]),
    )
    .action(run)
}

async function run(agent: string, prompt: string | undefined, flags: RunFlags): Promise<void> {
  const { stdin, stdout, stderr } = process
  const text = await promptOf(prompt)
  const config = await loadConfig({
    flags: flags.config === undefined ? {} : { config: flags.config },
    environment: process.env,
    cwd: process.cwd(),
  })
  using interrupted = interrupts()
  await using wired = wire({ settings: config.agents, agentLimits: config.timeouts })
  const dialect = dialectOf(flags)
  const show = dialect ? showAs(dialect, stdout) : showToPeople(stdout)
  const printer = new Printer(stdout)
  // Questions stay away from what a program reads, and then bring along what they are about.
  const askOn = dialect || !stdout.isTTY ? stderr : stdout
  const canAsk = stdin.isTTY && askOn.isTTY
  const asker = canAsk && askOn === stderr ? new Printer(stderr) : undefined
  const showAsked = showRequests(stderr)
  const completed = await drive(wired.sessions, {
    request: {
      agent,
      cwd: resolve(flags.cwd),
      policy: policyOf(flags),
      ...(flags.launch && { launch: flags.launch }),
      ...(flags.model !== undefined && { options: { model: flags.model } }),
    },
    prompt: text,
    async show(entry) {
      await printer.print(show(entry))
      await asker?.print(showAsked(entry))
    },
    answer: canAsk ? askAt(stdin, askOn) : undefined,
    stop: AbortSignal.any([interrupted, printer.closed]),
  })
  process.exitCode = exitCodeOf(completed.outcome, completed.exit)
}

function dialectOf({ json, to }: RunFlags): Dialect | undefined {
  return json || to !== undefined ? dialects.get(to ?? 'mainstem') : undefined
}

async function promptOf(argument: string | undefined): Promise<string> {
  const isPiped = argument === undefined || argument === '-'
  if (argument === undefined && process.stdin.isTTY) {
    throw new MainstemError('invalid_request', 'no prompt: give it as an argument, or "-" to type it')
  }
  const text = isPiped ? await readAll(process.stdin) : argument
  if (text.trim() === '') throw new MainstemError('invalid_request', 'the prompt is empty')
  return text
}

function policyOf({ approval, sandbox, timeout }: RunFlags): Policy {
  return { approval, sandbox, ...(timeout !== undefined && { timeoutMs: timeout * 1000 }) }
}

function seconds(value: string): number {
  const number = Number(value)
  if (!Number.isFinite(number) || number <= 0)
    throw new InvalidArgumentError('Give a number of seconds above 0.')
  return Math.ceil(number * 1000) / 1000
}
