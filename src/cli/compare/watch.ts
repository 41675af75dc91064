import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { Entry } from '../../model/index.ts'
import type { Detachable } from '../detach.ts'
import type { Answerer } from '../drive.ts'
import { follow } from '../follow.ts'
import { printableLine } from '../printable.ts'
import { Printer } from '../printer.ts'
import { render } from '../render.ts'
import { Screen } from '../screen.ts'
import { screenOn, showRequests, showToPeople } from '../show.ts'
import { advance, newStatus, progressOf } from '../status.ts'
import { newView } from '../view.ts'
import { cut } from '../wrap.ts'
import type { Candidate } from './candidates.ts'
import { columnWidth } from './columns.ts'
import { LiveColumns } from './live-columns.ts'
import type { Result } from './result.ts'

/** A candidate whose turn has begun. */
export interface Begun {
  candidate: Candidate
  session: string
  turn: number
  result: Result
}

export interface Watching {
  client: MainstemClient
  begun: readonly Begun[]
  stderr: NodeJS.WriteStream
  /** Absent if no person can answer. */
  answer?: Answerer
  signals: Detachable
  /** The line below the columns. */
  hint: { text: string }
}

type Show = (entry: Entry) => Promise<void> | void

/** Shows each transcript in turn. The log has what happened meanwhile, so nothing is buffered here. */
export async function oneByOne(watching: Watching): Promise<void> {
  const { begun, stderr, answer } = watching
  const printer = new Printer(stderr)
  for (const one of begun) {
    const screen = new Screen(screenOn(stderr))
    await printer.print(screen.line('', [screen.colors.bold, `── ${one.candidate.label} ──`]))
    const show = showToPeople(stderr)
    await followOne(watching, one, (entry) => printer.print(show(entry)), answer)
    await printer.print('\n')
  }
}

/** Shows only requests, and calls `ended` for each as it ends. */
export async function silently(watching: Watching, ended: (one: Begun) => Promise<void>): Promise<void> {
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
  const width = () => columnWidth(begun.length, stderr.columns) ?? stderr.columns
  await using live = new LiveColumns({
    printer,
    size: () => ({ columns: stderr.columns, rows: stderr.rows }),
    heading: (index) => [
      colors.bold(begun[index]?.candidate.label ?? ''),
      colors.dim(begun[index]?.result.end?.outcome ?? progressOf(status[index] ?? newStatus(), Date.now())),
    ],
    footer: () => colors.dim(cut(printableLine(hint.text), stderr.columns)),
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
  { session, turn, result }: Begun,
  show: Show,
  answer: Answerer | undefined,
): Promise<void> {
  await follow({
    client,
    session,
    after: 0,
    show: async (entry) => {
      result.take(entry)
      await show(entry)
    },
    answer,
    isLast: ({ event }) =>
      event.type === 'session.ended' || (event.type === 'turn.completed' && event.turn === turn),
    cancel: () => signals.press(),
    detach: signals.detached,
  })
}

interface Asking {
  /** Stores the visible part of a request. */
  take(entry: Entry): void
  answer: Answerer
}

/** Requests of several sessions wait for each other: one prompt at a time, with the name of its agent. */
function oneAtATime(
  { answer, stderr, signals }: Watching,
  print: (text: string) => Promise<void>,
  after: () => void = () => undefined,
): (one: Begun) => Asking | undefined {
  let before: Promise<unknown> = Promise.resolve()
  if (!answer) return () => undefined
  return ({ candidate }) => {
    const show = showRequests(stderr)
    const texts = new Map<string, string>()
    const { colors } = screenOn(stderr)
    const ask: Answerer = async (request, signal) => {
      // Interrupted, a request closes by itself. The terminal may detach first.
      if (signals.interrupted.aborted) await aborted(signal)
      if (signal.aborted) return undefined
      await print(`\n${colors.bold(`── ${candidate.label} ──`)}\n${texts.get(request.requestId) ?? ''}`)
      try {
        return await answer(request, signal)
      } finally {
        after()
      }
    }
    return {
      take(entry) {
        const text = show(entry)
        if (entry.event.type === 'request.opened') texts.set(entry.event.requestId, text)
      },
      answer: (request, signal) => {
        const asked = before.then(() => ask(request, signal))
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
