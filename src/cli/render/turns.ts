import type { TimelineItem } from '../../client/timeline/items.ts'
import { clockText } from '../../client/timeline/notice-texts.ts'
import type { TurnCompleted, TurnStarted } from '../../model/events/turn.ts'
import type { Continuation, Usage } from '../../model/index.ts'
import { adviceFor } from '../../model/outcome/error-table.ts'
import { isZeroUsage } from '../../model/usage-sum.ts'
import { duration, newCard, type TerminalView, type ViewRules } from './view.ts'

/** Only what is known: an agent that reports no cost is not shown as free. */
function usageLine({ input, cacheRead, cacheWrite, output, costUsd, partial }: Usage): string {
  const tokens = (count: number | undefined, word: string) =>
    count === undefined ? [] : [`${count.toLocaleString('en-US')} ${word}`]
  const line = [
    ...tokens(input, 'tokens in'),
    ...tokens(cacheRead || undefined, 'from cache'),
    ...tokens(cacheWrite || undefined, 'to cache'),
    ...tokens(output, 'out'),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(4)}`]),
  ].join(' · ')
  return partial ? `at least ${line}` : line
}

type Sender = Pick<TurnStarted, 'principal' | 'client'>

function prompt(view: TerminalView, text: string, { principal, client }: Sender): string[] {
  const { screen } = view
  const lines = [newCard(view), screen.block('  ', text, screen.colors.bold, screen.colors.cyan('❯ '))]
  if (view.reader === undefined || principal === undefined || principal === view.reader) return lines
  const from = client === undefined ? '' : ` (${client})`
  return [...lines, screen.line('  ', [screen.colors.dim, `sent by ${principal}${from}`])]
}

function lastLine(view: TerminalView, { outcome, durationMs }: TurnCompleted): string {
  const { screen } = view
  const { colors } = screen
  const took = duration(durationMs)
  if (outcome === 'completed') return screen.line('', [colors.green, '✔ completed'], ` in ${took}`)
  if (outcome === 'interrupted') return screen.line('', [colors.yellow, '■ interrupted'], ` after ${took}`)
  return screen.line('', [colors.red, `✖ ${outcome.replace('_', ' ')}`], ` after ${took}`)
}

function completed(view: TerminalView, turn: TurnCompleted): string[] {
  const { screen } = view
  const { colors } = screen
  const out = [newCard(view)]
  // Some agents give their answer in the result alone.
  if (turn.result && !view.timeline.items.some(isSpoken))
    out.push(screen.prose('  ', turn.result), screen.gap())
  const usage = turn.usage && !isZeroUsage(turn.usage) ? usageLine(turn.usage) : ''
  if (usage !== '') out.push(screen.line('  ', [colors.dim, usage]))
  out.push(lastLine(view, turn))
  if (turn.error) {
    const { message, code } = turn.error
    out.push(
      screen.block(
        '  ',
        view.timeline.items.some((item) => isError(item, message)) ? `(${code})` : `${message} (${code})`,
      ),
    )
    out.push(screen.block('  ', adviceFor(turn.error), colors.dim))
  }
  return out
}

function isSpoken(item: TimelineItem): boolean {
  return item.kind === 'text' && item.text !== '' && item.state !== 'discarded'
}

/** The error was shown when it happened. */
function isError(item: TimelineItem, message: string): boolean {
  return item.kind === 'notice' && item.level === 'error' && item.message === message
}

function laterText({ at, attempt, of }: Continuation): string {
  return `continues by itself at ${clockText(at, Date.now())} (${attempt} of ${of}); an interrupt cancels it`
}

export const turnRules = {
  'turn.queued': ({ screen }, { turn, position, continuation }) => [
    continuation
      ? screen.line('  ', [screen.colors.yellow, laterText(continuation)])
      : screen.line('  ', [screen.colors.dim, `turn ${turn} waits, number ${position} in the queue`]),
  ],
  'turn.started': (view, turn) => (turn.prompt === undefined ? [] : prompt(view, turn.prompt, turn)),
  'turn.steered': (view, turn) => prompt(view, turn.prompt, turn),
  'turn.completed': completed,
} satisfies Partial<ViewRules>
