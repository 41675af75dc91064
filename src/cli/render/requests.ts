import type { RequestOpened, RequestResolved } from '../../model/events/request.ts'
import { requestCard, subjectOf } from './request-card.ts'
import type { TerminalView, ViewRules } from './view.ts'

/** The request in full, or as much as fits where a person is asked. */
export function renderRequest(view: TerminalView, request: RequestOpened): string[] {
  return [requestCard(view, request).text]
}

function opened(view: TerminalView, request: RequestOpened): string[] {
  if (openRequests(view) > 1) view.isParallel = true
  return renderRequest(view, request)
}

/** Names the request that was closed, if several were open. */
function closed(view: TerminalView, requestId: string): string {
  const closed = view.timeline.requests.get(requestId)
  const name = view.isParallel && closed ? ` · ${subjectOf(view, closed.request)}` : ''
  if (openRequests(view) === 0) view.isParallel = false
  return name
}

function openRequests({ timeline }: TerminalView): number {
  return [...timeline.requests.values()].filter(({ resolved, withdrawn }) => !resolved && !withdrawn).length
}

/** Earlier logs do not name the person. */
function deciderOf({ by, principal, client }: RequestResolved): string {
  if (by !== 'person') return `, by ${by === 'policy' ? 'the policy' : 'a hook'}`
  if (principal === undefined) return ''
  return `, by ${principal}${client === undefined ? '' : ` (${client})`}`
}

/** `allowed once, by local (page)`. */
export function decisionText(resolved: RequestResolved): string {
  const { decision, scope, answers, message } = resolved
  const who = deciderOf(resolved)
  if (decision === 'deny') return `denied${who}${message === undefined ? '' : `: ${message}`}`
  if (decision === 'answered') {
    const given = Object.values(answers ?? {}).flat()
    return `${given.length === 0 ? 'no answer' : given.join(', ')}${who}`
  }
  const extent = scope === 'session' ? ' for this session' : scope === 'always' ? ' always' : ' once'
  return `allowed${extent}${who}`
}

export const requestRules = {
  'request.opened': opened,
  'request.resolved': (view, request) => {
    const { colors } = view.screen
    const name = closed(view, request.requestId)
    return [view.screen.line('  ', [colors.yellow, '→ '], decisionText(request), [colors.dim, name])]
  },
  'request.withdrawn': (view, { requestId, reason }) => {
    const { colors } = view.screen
    const name = closed(view, requestId)
    return [view.screen.line('  ', [colors.dim, `→ no longer asked (${reason.replace('_', ' ')})${name}`])]
  },
} satisfies Partial<ViewRules>
