import picocolors from 'picocolors'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Entry } from '../../model/index.ts'
import { printableJson } from './printable.ts'
import { render } from './render.ts'
import type { ScreenOptions } from './screen.ts'
import { newView, type TerminalView } from './view.ts'

/** A terminal or a substitute. */
type ShownOutput = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>

/** A terminal where a person is asked. */
type AskingOutput = ShownOutput & Pick<NodeJS.WriteStream, 'rows'>

/** What to print for an entry. */
type EntryText = (entry: Entry) => string

/** Longer lines are hard to read, however wide the window is. */
const WIDEST = 100

/** For a terminal that does not know its size: its width or height is then 0. */
export const USUAL_COLUMNS = 80
export const USUAL_ROWS = 24

/** Colours and line breaks only where the output is a terminal. */
export function screenOn(output: ShownOutput): ScreenOptions {
  const isTerminal = output.isTTY === true
  return {
    colors: picocolors.createColors(isTerminal && picocolors.isColorSupported),
    ...(isTerminal && { columns: () => Math.min(output.columns || USUAL_COLUMNS, WIDEST) }),
    rich: isTerminal && process.env.TERM !== 'dumb',
  }
}

/** A view where requests are answered: a request that is higher than the screen is shown in part, and paged. */
export function askingView(output: AskingOutput): TerminalView {
  return newView({ ...screenOn(output), rows: () => output.rows || USUAL_ROWS })
}

/** For people. */
export function showToPeople(output: ShownOutput, view = newView(screenOn(output))): EntryText {
  return (entry) => render(view, entry)
}

/** Renders only requests, for a terminal that shows nothing else: people must see what they approve. */
export function showRequests(output: ShownOutput, view = newView(screenOn(output))): EntryText {
  const show = showToPeople(output, view)
  return (entry) => {
    const text = show(entry)
    return entry.event.type === 'request.opened' ? text : ''
  }
}

/** For programs: the messages of a dialect, one JSON a line. */
export function showAs(dialect: Dialect): EntryText {
  const state = dialect.initial({})
  return (entry) => {
    let lines = ''
    for (const message of dialect.project(state, entry)) lines += `${printableJson(message)}\n`
    return lines
  }
}
