import type { PlanListItem } from 'mainstem/client'
import { showHidden } from '../../text/hidden.ts'
import { keyed } from '../../ui/keyed.ts'

const MARKS = { completed: '✓', in_progress: '▸', pending: '○' } as const

export function PlanView({ item: { steps } }: { item: PlanListItem }) {
  const done = steps.filter(({ status }) => status === 'completed').length
  return (
    <section aria-label="Plan" className="rounded-md border border-line bg-panel px-3 py-2">
      <h3 className="mb-1 text-xs text-soft">
        Plan · {done} of {steps.length}
      </h3>
      <ul>
        {keyed(steps, ({ text }) => text).map(([key, { text, status }]) => (
          <li key={key} className={`flex gap-2 ${status === 'completed' ? 'text-soft' : ''}`}>
            <span
              aria-label={status.replace('_', ' ')}
              role="img"
              className={`w-4 shrink-0 text-center ${status === 'in_progress' ? 'text-accent' : ''}`}
            >
              {MARKS[status]}
            </span>
            <span className={status === 'in_progress' ? 'font-medium' : ''}>{showHidden(text)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
