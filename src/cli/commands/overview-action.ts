import { requestText } from '../../client/calls/request-text.ts'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import { isForPerson } from '../../model/request/for-person.ts'
import { runningServer } from '../contexts/connect.ts'
import { MAINSTEM } from '../own-command.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { ago, isAsking, isWorking, type ListedSession, stateOf } from '../render/sessions.ts'
import { screenOn } from '../render/show.ts'
import { allSessions, refOf } from '../turn/session-ref.ts'

const NEWEST = 100
const MOST = 8

const RUN = ['run claude "…"', 'start an agent in this directory'] as const
const AGENTS = ['agents', 'which agents are ready, and how to install one'] as const
const DEMO = ['demo', 'see how it looks; needs no key'] as const
const REST = [
  ['open', 'the page in your browser'],
  ['--help', 'all commands'],
] as const

/** Where nothing has run yet, the steps in their order. */
const FIRST = [DEMO, AGENTS, RUN, ...REST] as const
const NEXT = [RUN, ['ls', 'all sessions'], AGENTS, DEMO, ...REST] as const

/** `mainstem` alone: what needs you, what runs, and what to type next. Starts no daemon. */
export async function overview(now = Date.now()): Promise<void> {
  const { stdout } = process
  const screen = new Screen(screenOn(stdout))
  const client = await runningServer()
  const sessions = client ? await overviewSessions(client) : []
  await new Printer(stdout).print(renderOverview(screen, sessions, now))
}

/** The newest sessions, and every older one that asks or works. */
export async function overviewSessions(
  client: MainstemClient,
  newest = NEWEST,
): Promise<readonly ListedSession[]> {
  const [page, asking, busy] = await Promise.all([
    client.sessions({ limit: newest }),
    allSessions(client, { asking: true }),
    allSessions(client, { status: 'busy' }),
  ])
  const all = [...page.sessions, ...asking, ...busy]
  return [...new Map(all.map((session) => [session.id, session])).values()]
}

/** The overview of sessions, each with the command that shows it. */
export function renderOverview(screen: Screen, sessions: readonly ListedSession[], now: number): string {
  const { colors } = screen
  const asking = sessions.filter(isAsking)
  const busy = sessions.filter(isWorking)
  const rest = sessions.filter((session) => !asking.includes(session) && !busy.includes(session))
  const out = [
    ...group(screen, 'Needs you', asking, colors.yellow, now),
    ...group(screen, 'Works', busy, colors.cyan, now),
    ...group(screen, 'Last', rest.slice(0, 3), colors.dim, now),
  ]
  if (sessions.length === 0) out.push(screen.line('', 'No sessions yet.'), screen.gap())
  const rows = sessions.length === 0 ? FIRST : NEXT
  const width = Math.max(...rows.map(([command]) => command.length))
  out.push(screen.line('', [colors.bold, 'Type next']))
  for (const [command, meaning] of rows)
    out.push(screen.line('  ', `${MAINSTEM} ${command.padEnd(width)}`, [colors.dim, `  ${meaning}`]))
  return out.join('')
}

function group(
  screen: Screen,
  title: string,
  sessions: readonly ListedSession[],
  style: (text: string) => string,
  now: number,
): string[] {
  if (sessions.length === 0) return []
  const { bold, dim } = screen.colors
  const lines = sessions.slice(0, MOST).flatMap((session) => {
    const asks = session.requests.find(isForPerson)
    const what = asks ? requestText(asks, session.cwd) : stateOf(session, now)
    const about = session.title === undefined ? '' : `  ${session.title}`
    const age = `  ${ago(now - session.updatedAt)}`
    const command = asks || session.status === 'busy' ? 'attach' : 'logs'
    return [
      screen.line('  ', session.agent, about, [style, `  ${what}`], [dim, age]),
      screen.line('    ', `${MAINSTEM} ${command} ${refOf(session)}`),
    ]
  })
  const more = sessions.length - MOST
  return [
    screen.line('', [bold, title], [dim, `  ${sessions.length}`]),
    ...lines,
    ...(more > 0 ? [screen.line('  ', [dim, `and ${more} more: ${MAINSTEM} ls`])] : []),
    screen.gap(),
  ]
}
