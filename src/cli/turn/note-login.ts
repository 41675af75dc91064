import { setTimeout as sleep } from 'node:timers/promises'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { AgentInfo } from '../../client/server-types.ts'
import type { Transcript } from './transcript.ts'

/** How long an agent may be silent before its login is checked. */
const SILENCE_MS = 1_500

const PROBLEMS: Readonly<Record<string, string>> = {
  needs_login: 'needs login',
  broken: 'does not run',
  missing: 'is not installed',
}

/**
 * Says what `mainstem agents` knows about an agent that is silent: without a login, agents retry for a minute before
 * they fail. An agent that answers is not checked, because the check starts programs.
 */
export async function noteLogin(
  client: MainstemClient,
  agent: string,
  transcript: Transcript,
  signal: AbortSignal,
  passesKeys: boolean,
): Promise<void> {
  try {
    await sleep(SILENCE_MS, undefined, { signal, ref: false })
    if (transcript.hasAnswer) return
    const found = await agentOf(client, agent, passesKeys)
    const problem = found && PROBLEMS[found.state]
    if (problem === undefined || signal.aborted || transcript.hasAnswer) return
    await transcript.note(`! ${agent} ${problem}${found?.fix === undefined ? '' : `: ${found.fix}`}`)
  } catch (thrown) {
    // The turn itself reports a server that is gone.
    if (!signal.aborted) await transcript.note(`! the login of ${agent} cannot be checked: ${thrown}`)
  }
}

/** An agent that gets the keys of this terminal may be logged in although the server has none. */
async function agentOf(
  client: MainstemClient,
  agent: string,
  passesKeys: boolean,
): Promise<Pick<AgentInfo, 'state' | 'fix'> | undefined> {
  const known = (await client.agents()).find(({ id }) => id === agent)
  if (known?.state !== 'needs_login' || !passesKeys) return known
  const { readiness } = await import('../../compose/readiness.ts')
  return (await readiness({ only: [agent] }))[0]
}
