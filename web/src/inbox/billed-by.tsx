import type { AgentInfo } from 'mainstem/client'

/** Which credential pays for the work of an agent. */
export function BilledBy({ agent: { credentials } }: { agent: AgentInfo }) {
  const names = credentials.map((one) => ('file' in one ? one.file : one.variable))
  if (names.length === 0) return null
  return <span className="min-w-0 truncate text-xs text-soft">Billed by {names.join(' or ')}</span>
}
