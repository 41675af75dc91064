import type { Event } from '../event.ts'
import type { Question } from '../request/request.ts'

/** Returns the text of an event that a search looks into. Deltas have none, because their message repeats them whole. */
export function searchText(event: Event): string | undefined {
  return partsOf(event).filter(Boolean).join('\n') || undefined
}

function partsOf(event: Event): (string | undefined)[] {
  switch (event.type) {
    case 'turn.started':
    case 'turn.steered':
      return [event.prompt]
    case 'text.completed':
    case 'thinking.completed':
      return [event.text]
    case 'tool.started':
      return [event.name, event.title, textIn(event.input)]
    case 'tool.updated':
      return [event.title, textIn(event.input)]
    case 'tool.completed':
      return [event.error, event.output]
    case 'file.changed':
      return [event.path, event.from]
    case 'plan.updated':
      return [event.explanation, ...event.items.map(({ text }) => text)]
    case 'subagent.started':
      return [event.label, event.prompt]
    case 'request.opened':
      return [event.title, ...(event.questions ?? []).flatMap(questionTexts)]
    case 'session.started':
      return [event.name, event.project]
    case 'session.updated':
      return [event.name ?? undefined, event.title]
    case 'turn.completed':
    case 'session.ended':
      return [event.error?.message]
    case 'notice.raised':
      return [event.message]
    default:
      return []
  }
}

function questionTexts({ text, options }: Question): string[] {
  return [text, ...options.map(({ label }) => label)]
}

/** The values of an input, without the syntax of JSON around them. */
function textIn(input: unknown): string | undefined {
  if (typeof input === 'string') return input
  if (typeof input !== 'object' || input === null) return input === undefined ? undefined : String(input)
  return Object.values(input).map(textIn).filter(Boolean).join('\n')
}
