import type { Agent } from '../agents/agent.ts'
import type { RunExit } from '../drivers/driver.ts'

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
