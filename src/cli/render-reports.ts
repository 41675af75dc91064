import { newCard, type View, type ViewRules } from './view.ts'

/** A dimmed line. */
function aside(view: View, text: string): string[] {
  return [view.screen.line('  ', [view.screen.colors.dim, text])]
}

export const reportRules = {
  'session.started': (view, { agent, launch, cwd }) => {
    const { screen } = view
    return [screen.line('', [screen.colors.bold, agent], [screen.colors.dim, `  ${launch} in ${cwd}`])]
  },
  'session.updated': (view, { model, title }) => [
    ...(model === undefined ? [] : aside(view, `model ${model}`)),
    ...(title === undefined ? [] : aside(view, `title ${title}`)),
  ],
  'session.ended': (view, { reason, error }) => {
    if (reason === 'completed') return []
    return aside(view, `session ${reason}${error === undefined ? '' : `: ${error.message}`}`)
  },
  'tool.input.delta': () => [],
  'context.compacted': (view, { before, after }) => {
    const sizes = before === undefined || after === undefined ? '' : `: ${before} → ${after} tokens`
    return aside(view, `context compacted${sizes}`)
  },
  // The turn's total is shown when it ends.
  'usage.reported': () => [],
  'limit.reported': (view, { kind, attempt, of, message }) => {
    const { colors } = view.screen
    const tries = attempt === undefined ? '' : ` ${attempt}${of === undefined ? '' : ` of ${of}`}`
    return [
      view.screen.line('  ', [
        colors.yellow,
        `${kind}${tries}${message === undefined ? '' : `: ${message}`}`,
      ]),
    ]
  },
  'notice.raised': (view, { level, message }) => {
    const { screen } = view
    const { colors } = screen
    if (level === 'info') return [screen.block('  ', message, colors.dim)]
    if (level === 'error') view.errors.add(message)
    const paint = level === 'error' ? colors.red : colors.yellow
    return [newCard(view), screen.block('  ', message, paint, paint('! '))]
  },
  'output.written': (view, { line }) => aside(view, line),
  'native.unmapped': (view, { nativeType }) => aside(view, `(not understood: ${nativeType})`),
} satisfies Partial<ViewRules>
