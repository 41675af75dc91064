import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { type Event, mainstem } from '../../src/index.ts'
import { recordedAgent } from '../../src/testing/index.ts'

const AGENTS = join(import.meta.dirname, '../../src/agents')

const live = (agent: string, scenario: string) => ({
  [agent]: { command: recordedAgent(join(AGENTS, scenario)) },
})
const oneshot = (scenario: string) => live('claude', scenario)
const cwd = tmpdir()

/** Children of this process before a test. Other test files in the same worker may have left a warm one. */
let earlier: readonly string[] = []
beforeEach(() => {
  earlier = childrenOf(process.pid)
})

/** Expects that no session left a child process. The orphan guard stays as long as this process. */
afterEach(() => {
  expect(childrenOf(process.pid).filter((child) => !earlier.includes(child))).toEqual([])
})

test.each([
  ['claude', 'claude/fixtures/claude/bidi_multi', 'Hello from the fake model'],
  ['codex', 'codex/fixtures/codex/as_basic', ''],
  ['gemini', 'gemini/fixtures/acp-gemini/text', ''],
])('%s is driven live through the one loop', async (agent, scenario, text) => {
  await using agents = mainstem({ agents: live(agent, scenario) })
  await using session = await agents.session({ agent, cwd })
  const turn = session.prompt('go')
  const events: Event[] = []
  for await (const { event } of turn) events.push(event)
  expect(events[0]?.type).toBe('turn.started')
  expect(events.at(-1)?.type).toBe('turn.completed')
  const result = await turn.result()
  expect(result.outcome).toBe('completed')
  expect(result.text).not.toBe('')
  expect(result.text).toContain(text)
  expect(session.nativeSessionId).toBeDefined()
})

test.each([
  ['claude', 'claude/fixtures/claude/bidi_perm_allow', 'all'],
  ['codex', 'codex/fixtures/codex/as_approval_accept', 'all'],
  ['gemini', 'gemini/fixtures/acp-gemini/tool_bash', 'all'],
  ['claude', 'claude/fixtures/claude/bidi_perm_allow', 'unread'],
] as const)('%s asks, one callback answers: %s, keeping %s', async (agent, scenario, keep) => {
  const asked: string[] = []
  await using agents = mainstem({ agents: live(agent, scenario) })
  await using session = await agents.session({
    agent,
    cwd,
    keep,
    onRequest: ({ kind }) => {
      asked.push(kind)
      return { decision: 'allow', scope: 'once' }
    },
  })
  expect(await session.prompt('go').result()).toMatchObject({ outcome: 'completed' })
  expect(asked).toEqual(['permission'])
})

test('a callback that fails denies the request', async () => {
  await using agents = mainstem({ agents: live('claude', 'claude/fixtures/claude/bidi_perm_deny') })
  await using session = await agents.session({
    agent: 'claude',
    cwd,
    onRequest: () => {
      throw new Error('nobody home')
    },
  })
  const turn = session.prompt('go')
  const decisions: string[] = []
  for await (const { event } of turn) if (event.type === 'request.resolved') decisions.push(event.decision)
  expect(decisions).toEqual(['deny'])
  expect(await turn.result()).toMatchObject({
    outcome: 'denied',
    error: { code: 'permission_denied', message: 'onRequest failed: nobody home' },
  })
})

test('an invalid answer denies the request and does not block the turn', async () => {
  await using agents = mainstem({ agents: live('claude', 'claude/fixtures/claude/bidi_ask_deny') })
  await using session = await agents.session({
    agent: 'claude',
    cwd,
    onRequest: () => ({ decision: 'allow' }),
  })
  const turn = session.prompt('go')
  const decisions: string[] = []
  for await (const { event } of turn) if (event.type === 'request.resolved') decisions.push(event.decision)
  expect(decisions).toEqual(['deny'])
})

test('an answer is parsed by the output schema', async () => {
  const Person = z.object({ name: z.string(), age: z.number() })
  await using agents = mainstem({ agents: oneshot('claude/fixtures/claude/schema') })
  await using session = await agents.session({ agent: 'claude', launch: 'oneshot', cwd, output: Person })
  const { structured } = await session.prompt('who?').result()
  expect(structured?.name).toBe('Ada')
  expect(structured).toEqual({ name: 'Ada', age: 36 })
})

test('an answer that does not match the output schema rejects', async () => {
  await using agents = mainstem({ agents: oneshot('claude/fixtures/claude/schema') })
  const output = z.object({ surname: z.string() })
  await using session = await agents.session({ agent: 'claude', launch: 'oneshot', cwd, output })
  await expect(session.prompt('who?').result()).rejects.toMatchObject({ code: 'protocol_error' })
})

test('an unsupported option is refused with its error code', async () => {
  await using agents = mainstem()
  await using session = await agents.session({ agent: 'echo', cwd })
  const images = [{ mimeType: 'image/png', data: 'AAAA' }]
  await expect(session.prompt('see', { images }).result()).rejects.toMatchObject({
    code: 'unsupported_option',
  })
  await expect(session.steer('left')).rejects.toMatchObject({ code: 'unsupported_option' })
  await expect(session.setMode('plan')).rejects.toMatchObject({ code: 'unsupported_option' })
})

test('a missing program is reported as a failed turn', async () => {
  await using agents = mainstem({ agents: { claude: { command: ['/nowhere/claude'] } } })
  await using session = await agents.session({ agent: 'claude', cwd })
  const { outcome, error } = await session.prompt('go').result()
  expect(outcome).toBe('failed')
  expect(error?.code).toBe('agent_not_found')
})

function childrenOf(pid: number): string[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return children.filter(
    (child) => !readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('mainstem-guard'),
  )
}
