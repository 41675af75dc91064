import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Approval, LaunchKind, OnLimit, Sandbox, SessionOptions } from '../../model/index.ts'
import { addServerOptions } from '../contexts/command.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import type { TranscriptFlags } from '../turn/transcript.ts'
import { APPROVALS, DIALECTS, LAUNCHES, ON_LOST, onLimit, SANDBOXES } from './choices.ts'

/** What an agent may do, and how much of it. */
export interface PolicyFlags {
  approval?: Approval
  sandbox?: Sandbox
  allowTool?: string[]
  denyTool?: string[]
  maxTurns?: number
  maxCost?: number
  timeout?: number
}

export interface RunFlags extends ServerFlags, TranscriptFlags, PolicyFlags {
  cwd?: string
  model?: string
  fallbackModel?: string
  subagents?: string
  skill?: string[]
  launch?: LaunchKind
  onLimit?: OnLimit
  onLost?: NonNullable<SessionOptions['onLost']>
  schema?: string
  image?: string[]
  detach?: boolean
  name?: string
  worktree?: string
  continue?: boolean
  resume?: string
  ephemeral?: boolean
}

/** `mainstem run`: one prompt, in a new session or in an earlier one. */
export function registerRun(program: Command): void {
  const command = program
    .command('run')
    .description('send a prompt to an agent and show its work')
    .argument('<agent>', 'which agent')
    .argument('[prompt]', 'what to do; "-" waits for standard input')
    .option(
      '-C, --cwd <dir>',
      'where the agent works: a directory of the server (default: here, on this machine)',
    )
    .option('-m, --model <name>', 'the model to ask for')
    .option('--fallback-model <name>', 'the model to ask while the other one is overloaded')
    .addOption(new Option('--launch <kind>', 'how to run the agent').choices(LAUNCHES))
  addPolicyOptions(command)
    .addOption(
      new Option(
        '--on-limit <action>',
        'when a usage limit ends a turn: fail, wait until it resets, or the agent that continues',
      ).argParser(onLimit),
    )
    .addOption(
      new Option('--on-lost <action>', 'when its process or server goes away: continue later').choices(
        ON_LOST,
      ),
    )
    .option(
      '--subagents <file>',
      'sub-agents for the session, as JSON: description, prompt and model by name',
    )
    .option('--skill <dir...>', 'directories of skills, each with a file SKILL.md')
    .option('--schema <file>', 'JSON Schema of the answer')
    .option('--image <file...>', 'images for the prompt')
  addOutputOptions(command)
    .option('--detach', 'print the id of the session and return at once')
    .option('--name <name>', 'name the session')
    .option('--worktree <branch>', 'work in a new git worktree of this new branch')
    .addOption(
      new Option('--continue', 'continue the newest session of the agent in this directory').conflicts(
        'resume',
      ),
    )
    .option('--resume <session>', 'continue this session')
    .addOption(
      new Option('--ephemeral', 'run without the daemon and keep nothing').conflicts([
        'detach',
        'continue',
        'resume',
        'name',
        'server',
        'context',
      ]),
    )
  addServerOptions(command).action(async (agent: string, prompt: string | undefined, flags: RunFlags) => {
    const { run } = await import('./run-action.ts')
    await run(agent, prompt, flags)
  })
}

/** What the agent may do. */
export function addPolicyOptions(command: Command): Command {
  return command
    .addOption(new Option('--approval <mode>', 'what the agent may do without asking').choices(APPROVALS))
    .addOption(new Option('--sandbox <mode>', "the agent's own sandbox").choices(SANDBOXES))
    .option('--allow-tool <tool...>', 'tools that run without asking')
    .option('--deny-tool <tool...>', 'tools that never run')
    .option('--max-turns <number>', 'model calls of the main thread before the turn stops', count)
    .option('--max-cost <usd>', 'cost of the turn before it stops', amount)
    .option('--timeout <seconds>', 'interrupt the turn after this time', seconds)
}

/** How a session is printed. */
export function addOutputOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--json', 'print the entries of the log, one JSON object a line').conflicts('dialect'),
    )
    .addOption(
      new Option('--dialect <dialect>', 'print the messages of a dialect, one JSON object a line').choices(
        DIALECTS,
      ),
    )
    .option('--quiet', 'print the final answer alone')
}

/** Which daemon to use. */
export function addLocalOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'data directory of the daemon')
    .option('--config <file>', 'configuration file')
}

export function seconds(value: string): number {
  const number = Number(value)
  if (!Number.isFinite(number) || number <= 0)
    throw new InvalidArgumentError('Give a number of seconds above 0.')
  return Math.ceil(number * 1000) / 1000
}

function amount(value: string): number {
  const number = Number(value)
  if (!Number.isFinite(number) || number <= 0) throw new InvalidArgumentError('Give an amount above 0.')
  return number
}

export function count(value: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number <= 0)
    throw new InvalidArgumentError('Give a whole number above 0.')
  return number
}
