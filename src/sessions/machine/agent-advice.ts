import type { Agent } from '../../agents/agent.ts'
import type { RunExit } from '../../drivers/driver.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'

/** Says how to get the program of an agent that was not found: by its configuration, or by installing it. */
export function withProgramAdvice(
  exit: RunExit,
  { id, name, setup }: Agent,
  command?: readonly string[],
): RunExit {
  const { error } = exit
  if (error?.code !== 'agent_not_found' || !setup) return exit
  const setting = `\`agents.${id}.command\` in the configuration`
  if (command) return { ...exit, error: { ...error, advice: `Correct ${setting}.` } }
  if (setup.program === undefined)
    return { ...exit, error: { ...error, message: `${name} has no command`, advice: `Set ${setting}.` } }
  if (setup.install === undefined) return exit
  return {
    ...exit,
    error: { ...error, message: `${name} is not installed`, advice: `Run: ${setup.install}` },
  }
}

/** Says how to log an agent in, for a turn that failed because it is not. */
export function withLoginAdvice(event: TurnCompleted, { setup }: Agent): TurnCompleted {
  if (event.error?.code !== 'authentication_failed') return event
  if (event.error.advice !== undefined || !setup) return event
  const ways = [...(setup.login === undefined ? [] : [`log in with \`${setup.login}\``]), ...keysOf(setup)]
  if (ways.length === 0) return event
  const advice = ways.join(', or ')
  return { ...event, error: { ...event.error, advice: `${advice[0]?.toUpperCase()}${advice.slice(1)}.` } }
}

/** An agent with more key variables than this uses the one of its provider. */
const FEW = 3

function keysOf({ credentials = [] }: NonNullable<Agent['setup']>): string[] {
  const names = credentials.flatMap((one) =>
    one.kind === 'variable' && one.values === undefined ? [one.name] : [],
  )
  if (names.length === 0) return []
  const key = names.length > FEW ? 'the key variable of its provider' : names.join(' or ')
  return [`set ${key} and restart the server (the daemon stops with \`mainstem daemon stop\`)`]
}
