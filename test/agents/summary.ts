import type { Entry, Usage } from '../../src/model/index.ts'

export interface TurnSummary {
  outcome: string
  text: string
  tools: { name: string; status: string; parent?: string }[]
  usage?: Usage
}

/** What each turn of a log came to, in the terms that a person reading the recording would use. */
export function summarise(entries: readonly Entry[]): TurnSummary[] {
  const ends = new Map(
    entries.flatMap(({ event }) => (event.type === 'tool.completed' ? [[event.toolId, event.status]] : [])),
  )
  return entries.flatMap(({ event: end }) => {
    if (end.type !== 'turn.completed') return []
    const events = entries.filter(({ turn }) => turn === end.turn).map(({ event }) => event)
    const texts = events.flatMap((event) =>
      event.type === 'text.completed' && event.parent === undefined ? [event.text] : [],
    )
    const tools = events.flatMap((event) => {
      if (event.type !== 'tool.started') return []
      const { name, toolId, parent } = event
      return [{ name, status: ends.get(toolId) ?? 'open', ...(parent !== undefined && { parent }) }]
    })
    return [
      {
        outcome: end.outcome,
        text: end.result ?? texts.at(-1) ?? '',
        tools,
        ...(end.usage && { usage: end.usage }),
      },
    ]
  })
}
