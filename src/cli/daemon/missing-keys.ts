import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { AgentInfo } from '../../client/server-types.ts'
import type { Environment } from '../../compose/paths.ts'
import { MAINSTEM } from '../own-command.ts'

/**
 * Names the key variables of an agent that this terminal has and the background server lacks: the server keeps the
 * environment of the command that started it. Undefined if there are none.
 */
export async function missingKeys(
  client: Pick<MainstemClient, 'agents'>,
  agent: string,
  environment: Environment = process.env,
): Promise<string | undefined> {
  const { readiness } = await import('../../compose/readiness.ts')
  const [here] = await readiness({ only: [agent], environment })
  const known = variablesIn((await client.agents()).find(({ id }) => id === agent)?.credentials)
  const missing = variablesIn(here?.credentials).filter((name) => !known.includes(name))
  if (missing.length === 0) return undefined
  const are = missing.length === 1 ? 'is' : 'are'
  const why = `${missing.join(', ')} ${are} set here, and the background server was started without`
  const fix = `Run \`${MAINSTEM} daemon stop\` when no other session works, then try again`
  return `${why}. ${fix}: the next command starts it with this environment.`
}

function variablesIn(credentials: AgentInfo['credentials'] = []): string[] {
  return credentials.flatMap((one) => ('variable' in one ? [one.variable] : []))
}
