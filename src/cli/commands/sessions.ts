import { type Command, Option } from 'commander'
import { addServerOptions } from '../contexts/command.ts'
import type { ServerFlags } from '../contexts/connect.ts'
import type { TranscriptFlags } from '../turn/transcript.ts'
import { STATES } from './choices.ts'
import { since } from './logs.ts'
import { addOutputOptions, count, seconds } from './run.ts'

export interface LsFlags extends ServerFlags {
  all?: boolean
  state?: string
  since?: number
  json?: boolean
}

export interface SendFlags extends ServerFlags, TranscriptFlags {
  detach?: boolean
  steer?: boolean
  /** The agent that continues. */
  agent?: string
}

export interface WaitFlags extends ServerFlags {
  timeout?: number
}

export interface ForkFlags extends ServerFlags {
  name?: string
}

export interface RewindFlags extends SendFlags {
  /** The turn before which the files are restored. */
  to: number
}

export interface StopFlags extends ServerFlags {
  end?: boolean
}

const SESSION = 'id, beginning of an id, name, or "last"'

/** The commands that work with sessions of the daemon. */
export function registerSessions(program: Command): void {
  const actions = () => import('./sessions-action.ts')
  addServerOptions(
    program
      .command('ls')
      .description('list sessions, newest first')
      .option('--all', 'all sessions, not only the newest 20')
      .addOption(new Option('--state <state>', 'only sessions in this state').choices(STATES))
      .option('--since <time>', 'only sessions that changed since: 2h, 7d, or a time', since)
      .option('--json', 'print one JSON object a line'),
  ).action(async (flags: LsFlags) => (await actions()).ls(flags))
  addServerOptions(
    addOutputOptions(
      program
        .command('attach')
        .description('show a session and follow it until its work is done')
        .argument('[session]', SESSION, 'last'),
    ),
  ).action(async (ref: string, flags: ServerFlags & TranscriptFlags) => (await actions()).attach(ref, flags))
  addServerOptions(
    addOutputOptions(
      program
        .command('send')
        .description('send a prompt to a session')
        .argument('<session>', SESSION)
        .argument('[prompt]', 'what to do; "-" waits for standard input'),
    )
      .option('--agent <agent>', 'have another agent continue the session, told a recap of it')
      .option('--steer', 'steer the running turn instead of queueing the prompt')
      .option('--detach', 'return at once'),
  ).action(async (ref: string, prompt: string | undefined, flags: SendFlags) =>
    (await actions()).send(ref, prompt, flags),
  )
  addServerOptions(
    program
      .command('wait')
      .description('wait until a session has nothing left to do')
      .argument('[session]', SESSION, 'last')
      .option('--timeout <seconds>', 'stop waiting after this time', seconds),
  ).action(async (ref: string, flags: WaitFlags) => (await actions()).wait(ref, flags))
  addServerOptions(
    program
      .command('stop')
      .description('interrupt the turn of a session')
      .argument('<session...>', SESSION)
      .option('--end', 'end the session as well; its log stays'),
  ).action(async (refs: string[], flags: StopFlags) => (await actions()).stop(refs, flags))
  registerRename(program)
  registerVerbs(program)
  addServerOptions(
    program.command('rm').description('end sessions and delete their data').argument('<session...>', SESSION),
  ).action(async (refs: string[], flags: ServerFlags) => (await actions()).rm(refs, flags))
}

function registerRename(program: Command): void {
  const actions = () => import('./sessions-action.ts')
  addServerOptions(
    program
      .command('rename')
      .description('give a session a name')
      .argument('<session>', SESSION)
      .argument('<name>', 'the new name; "" removes it'),
  ).action(async (ref: string, name: string, flags: ServerFlags) =>
    (await actions()).rename(ref, name, flags),
  )
}

/** Commands that agents have in their own terminals. */
function registerVerbs(program: Command): void {
  const actions = () => import('./sessions-action.ts')
  addServerOptions(
    program
      .command('fork')
      .description('continue a copy of a conversation in a new session')
      .argument('<session>', SESSION)
      .option('--name <name>', 'a name for the new session'),
  ).action(async (ref: string, flags: ForkFlags) => (await actions()).fork(ref, flags))
  for (const [name, description] of [
    ['compact', 'replace the conversation of a session by a summary'],
    ['review', 'have the agent review the uncommitted changes'],
  ] as const) {
    addServerOptions(
      addOutputOptions(
        program.command(name).description(description).argument('[session]', SESSION, 'last'),
      ).option('--detach', 'return at once'),
    ).action(async (ref: string, flags: SendFlags) => (await actions()).runVerb(name, ref, flags))
  }
  addServerOptions(
    addOutputOptions(
      program
        .command('goal')
        .description('have the agent work on a goal until it is reached')
        .argument('<session>', SESSION)
        .argument('<goal>', 'the goal, or "clear" to end it'),
    ).option('--detach', 'return at once'),
  ).action(async (ref: string, text: string, flags: SendFlags) => (await actions()).goal(ref, text, flags))
  addServerOptions(
    addOutputOptions(
      program
        .command('rewind')
        .description('restore the files as they were before a turn')
        .argument('[session]', SESSION, 'last')
        .requiredOption('--to <turn>', 'the turn before which the files are restored', count),
    ).option('--detach', 'return at once'),
  ).action(async (ref: string, flags: RewindFlags) => (await actions()).rewind(ref, flags))
}
