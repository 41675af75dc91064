import { byRules } from '../dialects/dialect.ts'
import type { Entry } from '../model/index.ts'
import { messageRules } from './render-messages.ts'
import { reportRules } from './render-reports.ts'
import { requestRules } from './render-requests.ts'
import { toolRules } from './render-tools.ts'
import { turnRules } from './render-turns.ts'
import { workRules } from './render-work.ts'
import type { View, ViewRules } from './view.ts'

const rules: ViewRules = {
  ...turnRules,
  ...messageRules,
  ...toolRules,
  ...workRules,
  ...requestRules,
  ...reportRules,
}

const project = byRules(rules)

/** What to print for one entry: a fold from a session's entries to the text of a terminal. */
export function render(view: View, entry: Entry): string {
  return project(view, entry).join('')
}
