import picocolors from 'picocolors'
import { expect, test } from 'vitest'
import { render } from '../../../src/cli/render/render.ts'
import { newView } from '../../../src/cli/render/view.ts'
import type { LimitReported } from '../../../src/model/events/report.ts'
import { entriesOf } from '../../dialects/entries.ts'

test('a limit is shown with the time when it resets', () => {
  const view = newView({ colors: picocolors.createColors(false) })
  const shown = (limit: LimitReported) =>
    entriesOf(limit)
      .map((entry) => render(view, entry))
      .join('')
  const limit: LimitReported = { type: 'limit.reported', kind: 'rate', message: 'five_hour' }
  expect(shown({ ...limit, resetsAt: 1_800_000_000_000 })).toBe(
    '  Rate limit, resets at 2027-01-15 08:00 UTC: five_hour\n',
  )
  expect(shown(limit)).toBe('  Rate limit: five_hour\n')
})
