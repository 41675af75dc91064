import type { Evidence } from './evidence.ts'
import type { Findings } from './findings.ts'

/** A prompt that the server accepted is one turn with one end; any other prompt is at most one turn. */
export function checkPrompts({ logs, clients }: Evidence, found: Findings): void {
  const turns = new Map<string, Set<string>>()
  const ends = new Map<string, number>()
  for (const [session, entries] of logs) {
    for (const { event } of entries) {
      const place = 'turn' in event ? `${session} ${event.turn}` : ''
      if (event.type === 'turn.completed') ends.set(place, (ends.get(place) ?? 0) + 1)
      if (event.type !== 'turn.started' && event.type !== 'turn.queued') continue
      const prompt = event.prompt ?? ''
      turns.set(prompt, (turns.get(prompt) ?? new Set()).add(place))
    }
  }
  for (const { text, session, turn, isVoid } of clients.prompts) {
    const places = [...(turns.get(text) ?? [])]
    if (places.length > 1) found.add('repeated', `${text} is in ${places.join(' and ')}`)
    if (session === undefined || isVoid || clients.deleted.has(session)) continue
    const place = `${session} ${turn}`
    if (places[0] !== place) found.add('lost', `${text} was promised as ${place}, and is in ${places[0]}`)
    if (ends.get(place) !== 1) found.add('terminal', `${place} ended ${ends.get(place) ?? 0} times`)
  }
}
