import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { renderOverview } from '../../../src/cli/commands/overview-action.ts'
import { MAINSTEM } from '../../../src/cli/own-command.ts'
import { Screen } from '../../../src/cli/render/screen.ts'
import { type ListedSession, renderSessions } from '../../../src/cli/render/sessions.ts'

const NOW = 10 * 86_400_000

const sessionRecord = (more: Partial<ListedSession>): ListedSession => ({
  id: '11111111-1111-4111-8111-111111111111',
  agent: 'claude',
  status: 'idle',
  requests: [],
  queue: [],
  cwd: '/project',
  updatedAt: NOW,
  ...more,
})

const screen = (columns: number) =>
  new Screen({ colors: picocolors.createColors(false), columns: () => columns })

const request = {
  type: 'request.opened' as const,
  requestId: 'r',
  kind: 'permission' as const,
  blocking: true,
  tool: 'Bash',
  title: 'rm -rf build',
  inputDigest: 'd',
  options: [],
}

const sessions = [
  sessionRecord({
    name: 'asks',
    status: 'busy',
    requests: [request],
    updatedAt: NOW - 60_000,
    title: 'Clean up',
  }),
  sessionRecord({ name: 'works', status: 'busy', updatedAt: NOW, title: 'Fix the tests' }),
  sessionRecord({ name: 'done', status: 'idle', lastOutcome: 'failed', updatedAt: NOW - 7_200_000 }),
]

describe('mainstem alone', () => {
  test('shows what needs a person first, with the command for each', () => {
    const text = renderOverview(screen(80), sessions, NOW)
    expect(text).toContain(
      `Needs you  1\n  claude  Clean up  rm -rf build  1 min\n    ${MAINSTEM} attach asks\n`,
    )
    expect(text).toContain(`Works  1\n  claude  Fix the tests  working  now\n    ${MAINSTEM} attach works\n`)
    expect(text).toContain(`Last  1\n  claude  failed  2 h\n    ${MAINSTEM} logs done\n`)
    expect(text).toContain(`Type next\n  ${MAINSTEM} run claude "…"`)
  })

  test('without sessions, says what to type', () => {
    expect(renderOverview(screen(80), [], NOW)).toMatch(/^No sessions yet\.\n\nType next\n/)
  })
})

describe('the table of sessions', () => {
  const title = 'Find out why the first page is missing'
  const one = [sessionRecord({ cwd: '/home/me/projects/a-long-directory-name', title, updatedAt: NOW })]

  test('keeps its title in a narrow terminal', () => {
    const lines = renderSessions(screen(60), one, NOW).split('\n')
    expect(lines[0]).not.toContain('DIRECTORY')
    expect(lines[1]).toContain('Find out why the first')
    expect(renderSessions(screen(120), one, NOW)).toContain('/home/me/projects/a-long-directory-name')
  })
})
