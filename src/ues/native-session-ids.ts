/** More runs than a program is likely to resume. */
const MOST_KEPT = 1_000

/** The agents' own session ids by agent and session id. */
const known = new Map<string, string>()

/** Remembers the agent's own id of a session, so that the session can be resumed by its Mainstem id. */
export function rememberNativeId(agent: string, sessionId: string, nativeId: string): void {
  known.set(`${agent} ${sessionId}`, nativeId)
  const [oldest] = known.keys()
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest)
}

/** The agent's own id of the session of an earlier run. An unknown id is taken as the agent's own. */
export function nativeIdOf(agent: string, sessionId: string): string {
  return known.get(`${agent} ${sessionId}`) ?? sessionId
}
