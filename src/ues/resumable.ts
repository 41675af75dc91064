/** More runs than anybody goes back to. */
const MOST_KEPT = 1_000

/** The agents' own ids of the conversations that were held here, by agent and session. */
const kept = new Map<string, string>()

export function keepNativeId(agent: string, sessionId: string, nativeId: string): void {
  kept.set(`${agent} ${sessionId}`, nativeId)
  const [oldest] = kept.keys()
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
}

/** What the agent calls the session of an earlier run; an id that is not ours is the agent's own. */
export function nativeIdOf(agent: string, sessionId: string): string {
  return kept.get(`${agent} ${sessionId}`) ?? sessionId
}
