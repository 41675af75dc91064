import type { Timeline } from '../../client/timeline/timeline.ts'

/** The final answer of a turn. Ends with a line break; empty if the turn has no answer. */
export function finalAnswer({ items }: Timeline): string {
  const text = resultIn(items) ?? lastTextIn(items) ?? ''
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function resultIn(items: Timeline['items']): string | undefined {
  const last = items.findLast(({ kind }) => kind === 'outcome')
  if (last?.kind !== 'outcome') return undefined
  const { structured, result } = last.completed
  return structured === undefined ? result || undefined : JSON.stringify(structured)
}

function lastTextIn(items: Timeline['items']): string | undefined {
  const last = items.findLast(
    (item) => item.kind === 'text' && item.text !== '' && item.state !== 'discarded',
  )
  return last?.kind === 'text' ? last.text : undefined
}
