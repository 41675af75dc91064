import type { Event } from './event.ts'

/** The text of an event that a person would search for. Deltas have none, because their message repeats them whole. */
export function searchText(event: Event): string | undefined {
  switch (event.type) {
    case 'turn.started':
    case 'turn.steered':
      return event.prompt
    case 'text.completed':
    case 'thinking.completed':
      return event.text
    case 'tool.started':
      return [event.title, textIn(event.input)].filter(Boolean).join('\n') || undefined
    case 'tool.completed':
      return event.error ?? event.output
    case 'file.changed':
      return event.path
    case 'session.updated':
      return event.title
    case 'turn.completed':
      return event.error?.message
    default:
      return undefined
  }
}

function textIn(input: unknown): string | undefined {
  if (typeof input === 'string') return input
  return input === undefined ? undefined : JSON.stringify(input)
}

/** The words of a search: every one must occur, whatever its case. */
export function searchWords(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

export function matchesWords(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}
