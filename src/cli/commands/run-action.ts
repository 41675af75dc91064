import type { MainstemClient } from '../../client/mainstem-client.ts'
import { ERRORS } from '../../model/outcome/error-table.ts'
import { type ConnectedServer, connect } from '../contexts/connect.ts'
import { MAINSTEM } from '../own-command.ts'
import { beginTurn } from '../turn/begin-turn.ts'
import { noteLogin } from '../turn/note-login.ts'
import { refOf, shortId } from '../turn/session-ref.ts'
import { promptFrom } from '../turn/stdin-prompt.ts'
import { Transcript } from '../turn/transcript.ts'
import { pageOpener, watchTurn } from '../turn/watch-turn.ts'
import type { RunFlags } from './run.ts'

/** How long a silent standard input is waited for, if the prompt was given as an argument. */
export const STDIN_SILENCE_MS = 3_000

export async function run(agent: string, argument: string | undefined, flags: RunFlags): Promise<void> {
  const { stdin } = process
  const warn = (message: string) => console.error(`mainstem: ${message}`)
  const prompt = await promptFrom({ argument, stdin, silenceMs: STDIN_SILENCE_MS, warn })
  if (!flags.ephemeral) return runOn(await connect(flags), agent, prompt, flags)
  const { ephemeralServer } = await import('../daemon/ephemeral.ts')
  await using server = await ephemeralServer(flags)
  await runOn(server, agent, prompt, flags)
}

type RunServer = Pick<ConnectedServer, 'client'> & Partial<ConnectedServer>

async function runOn(server: RunServer, agent: string, prompt: string, flags: RunFlags): Promise<void> {
  using transcript = await Transcript.open(process, flags)
  const attended = flags.detach === true || transcript.canAsk
  const begun = await beginTurn(server, agent, prompt, flags, attended)
  if (flags.detach) {
    // Alone on its line, so that a script can use it.
    console.log(begun.session)
    const ref = refOf({ id: begun.session, ...(begun.name !== undefined && { name: begun.name }) })
    console.error(
      `watch it: ${MAINSTEM} attach ${ref} · answer it: ${MAINSTEM} requests · ${shortId(begun.session)}`,
    )
    return
  }
  transcript.workIn(begun.cwd)
  const { client } = server
  const { passesKeys = false } = begun
  using _ = loginNote(client, agent, transcript, flags, passesKeys)
  const openPage = flags.ephemeral ? undefined : pageOpener(flags)
  process.exitCode = await watchTurn(transcript, { client, ...begun, isKept: !flags.ephemeral, openPage })
  const hasFailed = process.exitCode === ERRORS.authentication_failed.exit
  const keepsKeys = !flags.ephemeral && !passesKeys && server.remote === undefined
  if (hasFailed && keepsKeys) await noteMissingKeys(client, agent)
}

/** Names keys that were set after the background server was started. */
async function noteMissingKeys(client: MainstemClient, agent: string): Promise<void> {
  const { missingKeys } = await import('../daemon/missing-keys.ts')
  const missing = await missingKeys(client, agent)
  if (missing !== undefined) console.error(`mainstem: ${missing}`)
}

function loginNote(
  client: MainstemClient,
  agent: string,
  transcript: Transcript,
  flags: RunFlags,
  passesKeys: boolean,
): Disposable {
  const over = new AbortController()
  // Programs read the lines of the others.
  if (!flags.quiet && !flags.json && flags.dialect === undefined)
    void noteLogin(client, agent, transcript, over.signal, passesKeys)
  return { [Symbol.dispose]: () => over.abort() }
}
