import type { Command } from 'commander'
import type { LocalFlags } from '../daemon/data-directory.ts'
import type { TranscriptFlags } from '../turn/transcript.ts'
import { addLocalOptions, addOutputOptions, seconds } from './run.ts'

export interface LsFlags extends LocalFlags {
  all?: boolean
  json?: boolean
}

export interface SendFlags extends LocalFlags, TranscriptFlags {
  detach?: boolean
  steer?: boolean
}

export interface WaitFlags extends LocalFlags {
  timeout?: number
}

export interface StopFlags extends LocalFlags {
  end?: boolean
}

const SESSION = 'id, beginning of an id, name, or "last"'

/** The commands that work with sessions of the daemon. */
export function registerSessions(program: Command): void {
  const actions = () => import('./sessions-action.ts')
  addLocalOptions(
    program
      .command('ls')
      .description('list sessions, newest first')
      .option('--all', 'all sessions, not only the newest 20')
      .option('--json', 'print one JSON object a line'),
  ).action(async (flags: LsFlags) => (await actions()).ls(flags))
  addLocalOptions(
    addOutputOptions(
      program
        .command('attach')
        .description('show a session and follow it until its work is done')
        .argument('[session]', SESSION, 'last'),
    ),
  ).action(async (ref: string, flags: LocalFlags & TranscriptFlags) => (await actions()).attach(ref, flags))
  addLocalOptions(
    addOutputOptions(
      program
        .command('send')
        .description('send a prompt to a session')
        .argument('<session>', SESSION)
        .argument('[prompt]', 'what to do; "-" waits for standard input'),
    )
      .option('--steer', 'steer the running turn instead of queueing the prompt')
      .option('--detach', 'return at once'),
  ).action(async (ref: string, prompt: string | undefined, flags: SendFlags) =>
    (await actions()).send(ref, prompt, flags),
  )
  addLocalOptions(
    program
      .command('wait')
      .description('wait until a session has nothing left to do')
      .argument('[session]', SESSION, 'last')
      .option('--timeout <seconds>', 'stop waiting after this time', seconds),
  ).action(async (ref: string, flags: WaitFlags) => (await actions()).wait(ref, flags))
  addLocalOptions(
    program
      .command('stop')
      .description('interrupt the turn of a session')
      .argument('<session...>', SESSION)
      .option('--end', 'end the session as well; its log stays'),
  ).action(async (refs: string[], flags: StopFlags) => (await actions()).stop(refs, flags))
  addLocalOptions(
    program.command('rm').description('end sessions and delete their data').argument('<session...>', SESSION),
  ).action(async (refs: string[], flags: LocalFlags) => (await actions()).rm(refs, flags))
}
