import type { AskPerson } from '../../attend/attend.ts'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { Entry } from '../../model/index.ts'
import { printableLine } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { render } from '../render/render.ts'
import { Screen } from '../render/screen.ts'
import {
  askingView,
  screenOn,
  showRequests,
  showToPeople,
  USUAL_COLUMNS,
  USUAL_ROWS,
} from '../render/show.ts'
import { newView } from '../render/view.ts'
import { cut } from '../render/wrap.ts'
import { askAt } from '../terminal/ask.ts'
import type { Keyboard } from '../terminal/keyboard.ts'
import type { Detachable } from '../turn/detach.ts'
import { follow } from '../turn/follow.ts'
import { advance, newStatus, progressOf } from '../turn/status.ts'
import type { Candidate } from './candidates.ts'
import { columnWidth } from './columns.ts'
import { LiveColumns } from './live-columns.ts'
import type { TurnResultFold } from './result.ts'
import type { Worktree } from './worktrees.ts'

/** A candidate whose turn has begun. */
export interface BegunCandidate {
  candidate: Candidate
  session: string
  turn: number
  result: TurnResultFold
  worktree: Worktree | undefined
}

export interface Watching {
  client: MainstemClient
  begun: readonly BegunCandidate[]
  stderr: NodeJS.WriteStream
  /** Absent if no person can answer. */
  keyboard: Keyboard | undefined
  signals: Detachable
  /** The line below the columns. */
  hint: { text: string }
}

type ShowEntry = (entry: Entry) => Promise<void> | void

/** Shows each transcript in turn. The log has what happened meanwhile, so nothing is buffered here. */
export async function oneByOne(watching: Watching): Promise<void> {
  const { begun, stderr, keyboard } = watching
  const printer = new Printer(stderr)
  const print = (text: string) => printer.print(text)
  for (const one of begun) {
    const screen = new Screen(screenOn(stderr))
    await printer.print(screen.line('', [screen.colors.bold, `── ${one.candidate.label} ──`]))
    const view = keyboard ? askingView(stderr) : newView(screenOn(stderr))
    const show = showToPeople(stderr, view)
    const answer = keyboard && askAt({ keyboard, output: stderr, view, print })
    await followOne(watching, one, (entry) => printer.print(show(entry)), answer)
    await printer.print('\n')
  }
}

/** Shows only requests, and calls `ended` for each as it ends. */
export async function silently(
  watching: Watching,
  ended: (one: BegunCandidate) => Promise<void>,
): Promise<void> {
  const { begun, stderr, signals } = watching
  const printer = new Printer(stderr)
  const asking = oneAtATime(watching, (text) => printer.print(text))
  await Promise.all(
    begun.map(async (one) => {
      const ask = asking(one)
      await followOne(watching, one, (entry) => ask?.take(entry), ask?.answer)
      if (!signals.detached.aborted) await ended(one)
    }),
  )
}

/** Shows all beside each other. While a person is asked, the columns make room for the request. */
export async function inColumns(watching: Watching): Promise<void> {
  const { begun, stderr, hint } = watching
  const printer = new Printer(stderr)
  const { colors } = screenOn(stderr)
  const status = begun.map(() => newStatus())
  const size = () => ({ columns: stderr.columns || USUAL_COLUMNS, rows: stderr.rows || USUAL_ROWS })
  const width = () => columnWidth(begun.length, size().columns) ?? size().columns
  await using live = new LiveColumns({
    printer,
    size,
    heading: (index) => [
      colors.bold(begun[index]?.candidate.label ?? ''),
      colors.dim(begun[index]?.result.end?.outcome ?? progressOf(status[index] ?? newStatus(), Date.now())),
    ],
    footer: () => colors.dim(cut(printableLine(hint.text), size().columns)),
    count: begun.length,
  })
  const asking = oneAtATime(
    watching,
    async (text) => {
      await live.hide()
      await printer.print(text)
    },
    () => live.show(),
  )
  await Promise.all(
    begun.map(async (one, index) => {
      const view = newView({ colors, columns: width })
      const ask = asking(one)
      const show = (entry: Entry) => {
        ask?.take(entry)
        advance(status[index] ?? newStatus(), entry, Date.now())
        live.add(index, render(view, entry))
      }
      await followOne(watching, one, show, ask?.answer)
    }),
  )
}

async function followOne(
  { client, signals }: Watching,
  { session, turn, result }: BegunCandidate,
  show: ShowEntry,
  answer: AskPerson | undefined,
): Promise<void> {
  await follow({
    client,
    session,
    after: 0,
    show: async (entry) => {
      result.take(entry)
      await show(entry)
    },
    ask: answer,
    isLast: ({ event }) =>
      event.type === 'session.ended' || (event.type === 'turn.completed' && event.turn === turn),
    cancel: () => signals.press(),
    detach: signals.detached,
  })
}

interface CandidateDesk {
  /** Stores the visible part of a request. */
  take(entry: Entry): void
  answer: AskPerson
}

/** Requests of several sessions wait for each other: one prompt at a time, with the name of its agent. */
function oneAtATime(
  { keyboard, stderr, signals }: Watching,
  print: (text: string) => Promise<void>,
  after: () => void = () => undefined,
): (one: BegunCandidate) => CandidateDesk | undefined {
  let before: Promise<unknown> = Promise.resolve()
  let queued = 0
  if (!keyboard) return () => undefined
  return ({ candidate }) => {
    const view = askingView(stderr)
    const show = showRequests(stderr, view)
    const answer = askAt({ keyboard, output: stderr, view, print })
    const texts = new Map<string, string>()
    const { colors } = screenOn(stderr)
    const ask: AskPerson = async (request, asking) => {
      const { signal, waiting } = asking
      queued--
      // Interrupted, a request closes by itself. The terminal may detach first.
      if (signals.interrupted.aborted) await aborted(signal)
      if (signal.aborted) return undefined
      await print(`\n${colors.bold(`── ${candidate.label} ──`)}\n${texts.get(request.requestId) ?? ''}`)
      try {
        return await answer(request, { ...asking, waiting: () => waiting() + queued })
      } finally {
        after()
      }
    }
    return {
      take(entry) {
        const text = show(entry)
        if (entry.event.type === 'request.opened') texts.set(entry.event.requestId, text)
      },
      answer: (request, asking) => {
        queued++
        const asked = before.then(() => ask(request, asking))
        before = asked.catch(() => undefined)
        return asked
      },
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
