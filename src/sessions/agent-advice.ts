import type { Agent } from '../agents/agent.ts'
import type { RunExit } from '../drivers/driver.ts'
import type { TurnCompleted } from '../model/events/turn.ts'

/** Names the command that installs an agent whose own program was not found. */
export function withInstallAdvice(
  exit: RunExit,
  { name, setup }: Agent,
  command?: readonly string[],
): RunExit {
  const { error } = exit
  const isMissing = error?.code === 'agent_not_found' && command === undefined
  if (!isMissing || setup?.install === undefined) return exit
  return {
    ...exit,
    error: { ...error, message: `${name} is not installed`, advice: `Run: ${setup.install}` },
  }
}

/** Names the command that logs an agent in, for a turn that failed because it is not. */
export function withLoginAdvice(event: TurnCompleted, { setup }: Agent): TurnCompleted {
  if (event.error?.code !== 'authentication_failed') return event
  if (event.error.advice !== undefined || setup?.login === undefined) return event
  return {
    ...event,
    error: { ...event.error, advice: `Log in with \`${setup.login}\`, or set its key variable.` },
  }
}
