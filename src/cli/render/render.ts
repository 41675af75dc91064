import { applyEntry } from '../../client/timeline/apply-entry.ts'
import { nextTurn } from '../../client/timeline/next-turn.ts'
import { byRules } from '../../dialects/dialect.ts'
import type { Entry } from '../../model/index.ts'
import { messageRules } from './messages.ts'
import { reportRules } from './reports.ts'
import { requestRules } from './requests.ts'
import { toolRules } from './tools.ts'
import { turnRules } from './turns.ts'
import type { TerminalView, ViewRules } from './view.ts'
import { workRules } from './work.ts'

const rules: ViewRules = {
  ...turnRules,
  ...messageRules,
  ...toolRules,
  ...workRules,
  ...requestRules,
  ...reportRules,
}

const project = byRules(rules)

/** What to print for the next entry. The rules see the timeline with this entry. */
export function render(view: TerminalView, entry: Entry): string {
  if (entry.event.type === 'turn.started') view.timeline = nextTurn(view.timeline)
  applyEntry(view.timeline, entry)
  return project(view, entry).join('')
}
