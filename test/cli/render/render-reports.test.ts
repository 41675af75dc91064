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

test('a prompt names its sender where another principal reads it', () => {
  const shown = (reader: string | undefined) => {
    const view = newView({ colors: picocolors.createColors(false), reader })
    return entriesOf(
      { type: 'turn.started', turn: 1, prompt: 'go', origin: 'prompt', principal: 'ann', client: 'page' },
      { type: 'turn.steered', turn: 1, prompt: 'faster', effect: 'folded', principal: 'ann' },
      { type: 'turn.started', turn: 2, prompt: 'old', origin: 'prompt' },
    )
      .map((entry) => render(view, entry))
      .join('')
  }
  expect(shown('bob')).toBe('❯ go\n  sent by ann (page)\n\n❯ faster\n  sent by ann\n\n❯ old\n')
  expect(shown('ann')).toBe('❯ go\n\n❯ faster\n\n❯ old\n')
  expect(shown(undefined)).toBe(shown('ann'))
})
