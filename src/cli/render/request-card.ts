import { approvalDetails, escapeInvisible } from '../../client/approval-fields.ts'
import { commandOf, relativePath, withRelativePaths } from '../../client/calls/describe-call.ts'
import { subagentName } from '../../client/timeline/timeline.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import { proposedDiff } from './proposed-diff.ts'
import { callOf, newCard, type TerminalView, titleOf } from './view.ts'
import { cut, widthOf } from './wrap.ts'

const TITLES: Record<RequestOpened['kind'], string> = {
  permission: 'Permission',
  question: 'Question',
  plan: 'Plan to approve',
  login: 'Login',
}

/** Rows around the input: an empty line, the heading, the note about hidden lines, the label, and the keys. */
const ROWS_AROUND = 7

/** A request on a terminal. */
export interface RequestCard {
  /** The heading and the input, or as much of it as fits on the screen together with the keys. */
  text: string
  /** The whole input, in lines of the terminal. */
  body: readonly string[]
  /** How many lines of it `text` does not have. */
  hidden: number
  /** How many lines fit on one page. */
  page: number
  /** One line that names what the keys below it decide. */
  label(waiting: number): string
}

export function requestCard(view: TerminalView, request: RequestOpened): RequestCard {
  const { screen } = view
  const heading = headingOf(view, request)
  const body = request.questions ? questionsOf(view, request) : inputOf(view, request)
  const room = Math.max(1, screen.rows() - ROWS_AROUND)
  const isWhole = body.length <= room
  const shown = isWhole ? body : body.slice(0, room)
  const hidden = body.length - shown.length
  const note = hidden === 0 ? '' : screen.line('    ', [screen.colors.yellow, `… ${hidden} more lines`])
  return {
    text: [heading, ...shown.map((line) => `${line}\n`), note].join(''),
    body,
    hidden,
    page: Math.max(1, screen.rows() - 2),
    label: (waiting) => labelOf(view, request, request.questions ? 1 : body.length, waiting),
  }
}

function headingOf(view: TerminalView, request: RequestOpened): string {
  const { screen } = view
  const { colors } = screen
  const title = escapeInvisible(titleOfRequest(view, request))
  // The card of the call is still open at the end of the output and continues below the answer.
  const inCard = request.toolId !== undefined && request.toolId === view.openCard
  const gap = inCard ? '' : newCard(view)
  return (
    gap +
    screen.line(
      '',
      [colors.yellow, '? '],
      [colors.bold, TITLES[request.kind]],
      title === '' ? '' : `  ${title}`,
    )
  )
}

/** The title of a request, with paths relative to the directory of its session. A command stays as it is. */
function requestTitle({ title, input }: RequestOpened, cwd: string, called?: unknown): string | undefined {
  const isCommand = commandOf(input) !== undefined || commandOf(called) !== undefined
  return title === undefined || isCommand ? title : withRelativePaths(title, cwd)
}

/** Of a plan and a question, the name of the tool that asks says nothing. */
function titleOfRequest(view: TerminalView, request: RequestOpened): string {
  const { kind, tool, questions = [] } = request
  const title = requestTitle(request, view.cwd, callOf(view, request.toolId)?.input)
  const [only, another] = questions
  if (kind === 'plan') return title ?? ''
  if (kind === 'question' && only) return (another ? undefined : only.header) ?? ''
  return title ?? tool ?? only?.header ?? ''
}

/** Everything, because people must see all of what they approve. */
function inputOf(view: TerminalView, request: RequestOpened): string[] {
  const { input, title, toolId } = request
  const called = callOf(view, toolId)?.input
  // Some agents report it only with the call.
  const value = isEmpty(input) ? called : input
  const { screen } = view
  // The heading is cut to one line.
  const heading =
    isEmpty(value) && title !== undefined ? linesOf(screen.block('    ', escapeInvisible(title))) : []
  const diff = screen.rich ? proposedDiff(view, value) : { lines: [], fields: [] }
  if (diff.lines.length > 0 && toolId !== undefined) view.shownChanges.add(toolId)
  const shown = new Set<string | undefined>(diff.fields)
  const fields = approvalDetails({ ...request, input: value }).filter(([name]) => !shown.has(name))
  const details = fields.flatMap(([name, field]) => {
    if (screen.rich && request.kind === 'plan' && name === 'plan' && typeof field === 'string')
      return linesOf(screen.prose('    ', escapeInvisible(field)))
    const text = escapeInvisible(typeof field === 'string' ? field : (JSON.stringify(field) ?? ''))
    const named = name === undefined ? text : `${escapeInvisible(name)}: ${text}`
    return linesOf(screen.block('    ', named, screen.colors.dim))
  })
  return [...heading, ...diff.lines, ...details]
}

function questionsOf(view: TerminalView, { questions = [], title }: RequestOpened): string[] {
  const { screen } = view
  const { colors } = screen
  const isShown = questions.some(({ text, header }) => title === text || title === header)
  const about = title === undefined || isShown ? [] : linesOf(screen.block('  ', escapeInvisible(title)))
  const asked = questions.flatMap(({ text, options }) => [
    ...linesOf(screen.block('  ', escapeInvisible(text))),
    ...options.flatMap(({ label, description }) => {
      const why = description === undefined ? '' : `  ${escapeInvisible(description)}`
      return linesOf(
        screen.block('    ', `${escapeInvisible(label)}${why}`, undefined, `  ${colors.yellow('·')} `),
      )
    }),
  ])
  return [...about, ...asked]
}

/** The tool, its title, the sub-agent, the size and the number of waiting requests; the title is cut before the others. */
function labelOf(view: TerminalView, request: RequestOpened, lines: number, waiting: number): string {
  const { screen } = view
  const label = request.parent === undefined ? undefined : subagentName(view.timeline, request.parent)
  const rest = [
    ...(lines > 1 ? [`${lines} lines`] : []),
    ...(request.parent === undefined ? [] : [`sub-agent ${escapeInvisible(label ?? request.parent)}`]),
    ...(waiting === 0 ? [] : [`${waiting} more ${waiting === 1 ? 'request waits' : 'requests wait'}`]),
  ]
    .map((part) => ` · ${part}`)
    .join('')
  const room = Math.max(12, Math.min(screen.columns(), 200) - 2 - widthOf(rest))
  const name = cut(subjectOf(view, request), room)
  return screen.line('  ', [screen.colors.bold, name], [screen.colors.dim, rest])
}

/** What a request is about, on one line: the tool and its path or title. */
export function subjectOf(view: TerminalView, request: RequestOpened): string {
  const { tool, toolId, locations, kind } = request
  const { cwd } = view
  if (kind === 'plan') return TITLES.plan
  const call = callOf(view, toolId)
  const name = tool ?? TITLES[kind]
  const place = locations?.[0] && relativePath(locations[0].path, cwd)
  const detail = place ?? requestTitle(request, cwd, call?.input) ?? (call ? titleOf(call, cwd) : '')
  const words = detail === '' || detail === name ? name : `${name}  ${detail}`
  return escapeInvisible(words).replaceAll(/[\n\t]+/g, ' ')
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  )
}

function linesOf(block: string): string[] {
  return block === '' ? [] : block.replace(/\n$/, '').split('\n')
}
