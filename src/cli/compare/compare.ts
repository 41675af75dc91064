import { toMainstemError } from '../../model/outcome/error-table.ts'
import { turnExitCode } from '../../model/outcome/outcome-faces.ts'
import { STDIN_SILENCE_MS } from '../commands/run-action.ts'
import type { ConnectedServer } from '../contexts/connect.ts'
import { selectedContext } from '../contexts/connect.ts'
import { callerKeys } from '../daemon/caller-keys.ts'
import { localServer } from '../daemon/connect.ts'
import { workingDirectory } from '../named-path.ts'
import { MAINSTEM } from '../own-command.ts'
import { printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn, USUAL_COLUMNS } from '../render/show.ts'
import { Keyboard } from '../terminal/keyboard.ts'
import { policyOf } from '../turn/begin-turn.ts'
import { onCtrlC } from '../turn/detach.ts'
import { shortId } from '../turn/session-ref.ts'
import { promptFrom } from '../turn/stdin-prompt.ts'
import { type Candidate, candidatesOf } from './candidates.ts'
import { columnWidth } from './columns.ts'
import type { CompareFlags } from './command.ts'
import { TurnResultFold } from './result.ts'
import { type Finished, summaryOf, summaryText, worktreeNotes } from './summary.ts'
import { type BegunCandidate, inColumns, oneByOne, silently, type Watching } from './watch.ts'
import {
  branchesFor,
  changedFiles,
  type Repository,
  removeWorktrees,
  repositoryOf,
  type Worktree,
  worktreeOf,
} from './worktrees.ts'

const note = (text: string) => console.error(`mainstem: ${text}`)

export async function compare(
  list: string,
  argument: string | undefined,
  given: CompareFlags,
): Promise<void> {
  const candidates = candidatesOf(list)
  const flags = { ...given, cwd: await workingDirectory(given.cwd) }
  const { stdin } = process
  const prompt = await promptFrom({ argument, stdin, silenceMs: STDIN_SILENCE_MS, warn: note })
  const remote = await selectedContext(flags, process.env)
  if (remote) note(`compare works on this machine, not on ${remote.server}`)
  const server = await localServer(flags)
  const { client } = server
  const repository = flags.worktree ? await repositoryOf(flags.cwd) : undefined
  if (repository && repository.uncommitted > 0)
    note(
      `${repository.uncommitted} uncommitted changes are not in the worktrees, which begin at the last commit`,
    )
  if (!repository) note('all agents work in the same directory; --worktree gives each its own')
  const begun = await beginAll(server, candidates, prompt, flags, repository)
  const isLive = canShowColumns(begun.length, flags)
  const hint = { text: 'Ctrl-C interrupts all, twice detaches' }
  const say = (text: string) => {
    // A line between the columns would shift them.
    if (isLive) hint.text = text
    else note(text)
  }
  using signals = onCtrlC((detached) => {
    say('interrupting all · Ctrl-C again detaches')
    // The effect appears in the logs, which are shown.
    for (const { session } of begun)
      client.interrupt(session, detached).catch((thrown: unknown) => {
        if (!detached.aborted) say(`${shortId(session)}: ${toMainstemError(thrown).message}`)
      })
  })
  const { stderr } = process
  using keyboard = canAsk() ? new Keyboard({ input: stdin, output: stderr }) : undefined
  const watching = { client, begun, signals, hint, stderr, keyboard }
  await watch(watching, isLive, flags)
  if (signals.detached.aborted) {
    const refs = begun.map(({ session }) => `${MAINSTEM} attach ${shortId(session)}`)
    note(`detached; the sessions continue: ${refs.join(' · ')}`)
    process.exitCode = 130
    return
  }
  process.exitCode = begun.map(codeOf).find((code) => code !== 0) ?? 0
}

/** The code of the outcome; a session that ended without one has failed. */
function codeOf({ result: { end } }: BegunCandidate): number {
  return end ? turnExitCode(end) : 1
}

function canShowColumns(count: number, { json }: CompareFlags): boolean {
  const { stderr } = process
  if (json || !stderr.isTTY || process.env.TERM === 'dumb') return false
  return columnWidth(count, stderr.columns || USUAL_COLUMNS) !== undefined
}

function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Begins all sessions before the first prompt: where one is refused, none of the agents has worked. */
async function beginAll(
  server: ConnectedServer,
  candidates: readonly Candidate[],
  prompt: string,
  flags: CompareFlags,
  repository: Repository | undefined,
): Promise<BegunCandidate[]> {
  const { client } = server
  const policy = policyOf(flags)
  const branches = repository ? branchesFor(candidates.map(({ label }) => label)) : []
  const created: { candidate: Candidate; session: string; worktree: Worktree | undefined }[] = []
  try {
    for (const [index, candidate] of candidates.entries()) {
      const { agent, model } = candidate
      const keys = callerKeys(server, agent)
      const branch = branches[index]
      const { id, cwd } = await client.begin({
        agent,
        ...(keys && { keys }),
        cwd: flags.cwd,
        ...(branch !== undefined && { worktree: branch }),
        attended: canAsk(),
        ...(Object.keys(policy).length > 0 && { policy }),
        ...(model !== undefined && { options: { model } }),
      })
      const worktree = repository && branch ? await worktreeOf(cwd, branch, repository) : undefined
      created.push({ candidate, session: id, worktree })
    }
  } catch (thrown) {
    for (const { session } of created) await client.delete(session)
    await removeWorktrees(
      flags.cwd,
      created.flatMap(({ worktree }) => worktree ?? []),
    )
    throw thrown
  }
  return Promise.all(
    created.map(async (one) => ({
      ...one,
      turn: await client.prompt(one.session, prompt),
      result: new TurnResultFold(),
    })),
  )
}

/** Shows the turns until all have ended, then the results. */
async function watch(watching: Watching, isLive: boolean, { json }: CompareFlags): Promise<void> {
  const { stdout } = process
  const { begun, signals } = watching
  const printer = new Printer(stdout)
  if (json) {
    return silently(watching, async (one) =>
      printer.print(`${printableJson(summaryOf(await finish(one)))}\n`),
    )
  }
  await (isLive ? inColumns(watching) : oneByOne(watching))
  if (signals.detached.aborted) return
  const all = await Promise.all(begun.map(finish))
  if (stdout.isTTY) await printer.print('\n')
  await printer.print(summaryText(new Screen(screenOn(stdout)), all))
  for (const line of worktreeNotes(all)) console.error(line)
}

async function finish(begun: BegunCandidate): Promise<Finished> {
  const { worktree, result } = begun
  return { ...begun, files: worktree ? await changedFiles(worktree) : [...result.files].sort() }
}
