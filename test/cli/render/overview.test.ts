import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { STATES } from '../../../src/cli/commands/choices.ts'
import { overviewSessions, renderOverview } from '../../../src/cli/commands/overview-action.ts'
import { MAINSTEM } from '../../../src/cli/own-command.ts'
import { Screen } from '../../../src/cli/render/screen.ts'
import { isInState, type ListedSession, renderSessions } from '../../../src/cli/render/sessions.ts'
import { MainstemClient } from '../../../src/client/index.ts'
import { script, success } from '../../gateway/puppet.ts'
import { startGateway, TOKEN } from '../../gateway/start.ts'

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

  test('a request that a hook or a policy answers needs nobody', () => {
    const decided = (['hook', 'policy', 'nobody'] as const).map((answeredBy) => ({ ...request, answeredBy }))
    const busy = sessionRecord({ name: 'hooked', status: 'busy', requests: decided })
    const text = renderOverview(screen(80), [busy], NOW)
    expect(text).not.toContain('Needs you')
    expect(text).toContain(`Works  1\n  claude  working  now\n    ${MAINSTEM} attach hooked\n`)
    expect(renderSessions(screen(80), [busy], NOW)).toContain('working')
    expect(STATES.filter((state) => isInState(busy, state))).toEqual(['working'])
    const asks = { ...busy, requests: [...decided, { ...request, title: 'mine' }] }
    expect(renderOverview(screen(80), [asks], NOW)).toContain('Needs you  1\n  claude  mine  now')
    expect(STATES.filter((state) => isInState(asks, state))).toEqual(['asking'])
    const questions = [
      { id: 'q', text: 'Which one?', options: [], multiple: false, other: true, secret: false },
    ]
    const wonders = { ...busy, requests: [{ ...request, title: undefined, questions }] }
    expect(renderOverview(screen(80), [wonders], NOW)).toContain('  claude  Which one?  now')
  })

  test('has an old session that asks or works, however many newer ones there are', async () => {
    await using server = await startGateway()
    const client = new MainstemClient({ baseUrl: server.url, token: TOKEN })
    const { requestId, kind, blocking, options, tool } = request
    const say = { type: 'request.opened' as const, requestId, kind, blocking, options, tool }
    const wait = { ...success, wait: true }
    const asking = await client.begin({ agent: 'puppet', prompt: script({ say }, wait) })
    const working = await client.begin({ agent: 'puppet', prompt: script(wait) })
    await server.gate.reached()
    await expect.poll(async () => (await client.session(asking.id)).requests.length).toBe(1)
    const newest = await client.begin({ agent: 'echo' })
    await client.begin({ agent: 'echo' })
    await client.delete((await client.begin({ agent: 'echo' })).id)
    const shown = await overviewSessions(client, 2)
    expect(shown.map(({ id }) => id)).toEqual(expect.arrayContaining([asking.id, working.id, newest.id]))
    expect(shown).toHaveLength(4)
  })

  test('without sessions, says what to type', () => {
    expect(renderOverview(screen(80), [], NOW)).toMatch(
      /^No sessions yet\.\n\nType next\n {2}(?:npx )?mainstem demo /,
    )
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

  test('fills a wide terminal with its title', () => {
    const long = `Find out ${'why '.repeat(6)}the first page is missing`
    const shown = renderSessions(
      screen(120),
      [sessionRecord({ cwd: '/a', title: long, updatedAt: NOW })],
      NOW,
    )
    expect(shown).toContain(long)
  })

  test.each([
    [{ used: 84_000, size: 200_000 }, '42%'],
    [{ used: 84_000 }, '84k'],
    [{ used: 840 }, '840'],
    [{ size: 200_000 }, undefined],
    [undefined, undefined],
  ])('shows how full the context is: %o', (context, shown) => {
    const [heading = '', row = ''] = renderSessions(
      screen(120),
      [sessionRecord({ title, updatedAt: NOW, ...(context && { context }) })],
      NOW,
    ).split('\n')
    expect(heading.includes('CONTEXT')).toBe(shown !== undefined)
    if (shown !== undefined) expect(row).toContain(` ${shown} `)
  })
})
