import { compactedText, limitText, unmappedText } from '../../client/timeline/notice-texts.ts'
import { handOverText } from '../../model/events/hand-over-text.ts'
import { newCard, type TerminalView, type ViewRules } from './view.ts'

/** A dimmed line. */
function aside(view: TerminalView, text: string): string[] {
  return [view.screen.line('  ', [view.screen.colors.dim, text])]
}

export const reportRules = {
  'session.started': (view, { agent, launch, cwd }) => {
    const { screen } = view
    view.cwd = cwd
    return [screen.line('', [screen.colors.bold, agent], [screen.colors.dim, `  ${launch} in ${cwd}`])]
  },
  'session.updated': (view, { model, title }) => [
    ...(model === undefined ? [] : aside(view, `model ${model}`)),
    ...(title === undefined ? [] : aside(view, `title ${title}`)),
  ],
  'session.handed_over': (view, event) => aside(view, handOverText(event)),
  'session.ended': (view, { reason, error }) => {
    if (reason === 'completed') return []
    return aside(view, `session ${reason}${error === undefined ? '' : `: ${error.message}`}`)
  },
  'tool.input.delta': () => [],
  'context.compacted': (view, compacted) => aside(view, compactedText(compacted)),
  // The turn's total is shown when it ends.
  'usage.reported': () => [],
  'limit.reported': ({ screen }, limit) => [screen.line('  ', [screen.colors.yellow, limitText(limit)])],
  'notice.raised': (view, { level, message }) => {
    const { screen } = view
    const { colors } = screen
    if (level === 'info') return [screen.block('  ', message, colors.dim)]
    const paint = level === 'error' ? colors.red : colors.yellow
    return [newCard(view), screen.block('  ', message, paint, paint('! '))]
  },
  'output.written': (view, { line }) => aside(view, line),
  'native.unmapped': (view, unmapped) => aside(view, unmappedText(unmapped)),
} satisfies Partial<ViewRules>
