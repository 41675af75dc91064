import type { RequestOpened, RequestResolved } from '../model/events/request.ts'
import { newCard, type View, type ViewRules } from './view.ts'

const TITLES: Record<RequestOpened['kind'], string> = {
  permission: 'Permission',
  question: 'Question',
  plan: 'Plan to approve',
  login: 'Login',
}

/** In full, because people must see all of what they approve. */
function input(view: View, { input, toolId }: RequestOpened): string[] {
  const called = toolId === undefined ? undefined : view.tools.get(toolId)?.input
  // Some agents report it only with the call.
  const value = isEmpty(input) ? called : input
  if (isEmpty(value)) return []
  const { screen } = view
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [['', value] as const]
  return entries.map(([key, field]) => {
    const text = typeof field === 'string' ? field : (JSON.stringify(field) ?? '')
    return screen.block('    ', key === '' ? text : `${key}: ${text}`, screen.colors.dim)
  })
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  )
}

/** The request in full. */
export function renderRequest(view: View, request: RequestOpened): string[] {
  const { screen } = view
  const { colors } = screen
  const title = request.title ?? request.tool ?? request.questions?.[0]?.header ?? ''
  // The card of the call is still open at the end of the output and continues below the answer.
  const inCard = request.toolId !== undefined && request.toolId === view.openCard
  const out = [
    inCard ? '' : newCard(view),
    screen.line(
      '',
      [colors.yellow, '? '],
      [colors.bold, TITLES[request.kind]],
      title === '' ? '' : `  ${title}`,
    ),
  ]
  // Questions are in the input of the call as well.
  if (!request.questions) out.push(...input(view, request))
  for (const question of request.questions ?? []) {
    out.push(screen.block('  ', question.text))
    for (const { label, description } of question.options) {
      const why = description === undefined ? '' : `  ${description}`
      out.push(screen.line('  ', [colors.yellow, '· '], label, [colors.dim, why]))
    }
  }
  return out
}

function decision({ decision, scope, answers, by }: RequestResolved): string {
  const who = by === 'person' ? '' : `, by ${by === 'policy' ? 'the policy' : 'a hook'}`
  if (decision === 'deny') return `denied${who}`
  if (decision === 'answered') {
    const given = Object.values(answers ?? {}).flat()
    return `${given.length === 0 ? 'no answer' : given.join(', ')}${who}`
  }
  const extent = scope === 'session' ? ' for this session' : scope === 'always' ? ' always' : ' once'
  return `allowed${extent}${who}`
}

export const requestRules = {
  'request.opened': renderRequest,
  'request.resolved': (view, request) => {
    const { colors } = view.screen
    return [view.screen.line('  ', [colors.yellow, '→ '], decision(request))]
  },
  'request.withdrawn': (view, { reason }) => {
    const { colors } = view.screen
    return [view.screen.line('  ', [colors.dim, `→ no longer asked (${reason.replace('_', ' ')})`])]
  },
} satisfies Partial<ViewRules>
