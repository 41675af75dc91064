import picocolors from 'picocolors'
import type { Dialect } from '../dialects/dialect.ts'
import type { Entry } from '../model/index.ts'
import { jsonOn } from './printable.ts'
import { render } from './render.ts'
import type { ScreenOptions } from './screen.ts'
import { newView } from './view.ts'

/** A terminal or a substitute. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>

/** What to print for an entry. */
type Show = (entry: Entry) => string

/** Longer lines are hard to read, however wide the window is. */
const WIDEST = 100

/** Colours and line breaks only where the output is a terminal. */
export function screenOn(output: Output): ScreenOptions {
  const isTerminal = output.isTTY === true
  return {
    colors: picocolors.createColors(isTerminal && picocolors.isColorSupported),
    ...(isTerminal && { columns: () => Math.min(output.columns, WIDEST) }),
  }
}

/** For people. */
export function showToPeople(output: Output): Show {
  const view = newView(screenOn(output))
  return (entry) => render(view, entry)
}

/** Renders only requests, for a terminal that shows nothing else: people must see what they approve. */
export function showRequests(output: Output): Show {
  const show = showToPeople(output)
  return (entry) => {
    const text = show(entry)
    return entry.event.type === 'request.opened' ? text : ''
  }
}

/** For programs: the messages of a dialect, one JSON a line. */
export function showAs(dialect: Dialect, output: Pick<Output, 'isTTY'>): Show {
  const state = dialect.initial({})
  return (entry) => {
    let lines = ''
    for (const message of dialect.project(state, entry)) lines += `${jsonOn(output, message)}\n`
    return lines
  }
}
