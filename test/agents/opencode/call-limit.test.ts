import { expect, test } from 'vitest'
import type { Start } from '../../../src/agents/agent.ts'
import { callLimit } from '../../../src/agents/opencode/call-limit.ts'
import type { LaunchKind } from '../../../src/model/index.ts'
import { agentAt } from '../../../src/sessions/process/recipes.ts'
import { agentOf } from '../acp/acp-talk.ts'

interface Message {
  info: { id: string; role: 'user' | 'assistant'; sessionID: string; parentID?: string }
  parts: { type: string }[]
}

type Hook = (input: unknown, output: { messages: Message[] }) => Promise<void>

/** The hook of the plugin, and the sessions that it aborted. */
async function loaded(maxSteps: number, parentID?: string) {
  const { text } = callLimit(maxSteps).file
  const { MainstemCallLimit } = await import(`data:text/javascript,${encodeURIComponent(text)}`)
  const aborted: string[] = []
  const session = {
    get: async ({ path: { id } }: { path: { id: string } }) => ({ data: { id, parentID } }),
    abort: async ({ path: { id } }: { path: { id: string } }) => aborted.push(id),
  }
  const hooks = await MainstemCallLimit({ client: { session } })
  const hook: Hook = hooks['experimental.chat.messages.transform']
  return { hook, aborted }
}

const prompt = (id: string): Message => ({ info: { id, role: 'user', sessionID: 's1' }, parts: [] })

function call(parentID: string, ...types: string[]): Message {
  const parts = ['step-start', ...types].map((type) => ({ type }))
  return { info: { id: 'a', role: 'assistant', sessionID: 's1', parentID }, parts }
}

const whole = (parentID: string) => call(parentID, 'tool', 'step-finish')

test('the call after the last allowed one is held, and its session aborted', async () => {
  const { hook, aborted } = await loaded(2)
  await hook({}, { messages: [prompt('u1')] })
  await hook({}, { messages: [prompt('u1'), whole('u1')] })
  expect(aborted).toEqual([])
  let isOver = false
  const held = hook({}, { messages: [prompt('u1'), whole('u1'), whole('u1')] }).then(() => {
    isOver = true
  })
  await expect.poll(() => aborted).toEqual(['s1'])
  await Promise.race([held, Promise.resolve()])
  expect(isOver).toBe(false)
})

test('calls of earlier prompts, and calls without an end, do not count', async () => {
  const { hook, aborted } = await loaded(2)
  await hook({}, { messages: [prompt('u1'), whole('u1'), whole('u1'), prompt('u2'), whole('u2')] })
  await hook({}, { messages: [prompt('u1'), whole('u1'), call('u1', 'tool')] })
  await hook({}, { messages: [] })
  expect(aborted).toEqual([])
})

test('sub-agents are not limited', async () => {
  const { hook, aborted } = await loaded(1, 'parent')
  await hook({}, { messages: [prompt('u1'), whole('u1')] })
  expect(aborted).toEqual([])
})

function launchOf(launch: LaunchKind, version: string, maxSteps?: number) {
  const recipe = agentAt(agentOf('opencode'), version).launches[launch]
  const policy = { approval: 'auto-all', sandbox: 'full-access', ...(maxSteps && { maxSteps }) } as const
  const start: Start = { launch, cwd: '/project', policy, options: {}, epoch: 1, version }
  const launched = recipe?.launch(start)
  if (!launched || !('env' in launched)) throw new Error('OpenCode is a program')
  const { OPENCODE_CONFIG_CONTENT: text } = launched.env
  return { files: launched.files ?? [], config: text === undefined ? undefined : JSON.parse(text) }
}

test.each(['live', 'oneshot'] as const)('a %s launch loads the plugin only for a limit', (launch) => {
  expect(launchOf(launch, '1.18.33')).toEqual({ files: [], config: undefined })
  const { file, settings } = callLimit(3)
  expect(launchOf(launch, '1.18.33', 3)).toEqual({ files: [file], config: settings })
})

test.each(['live', 'oneshot'] as const)('a %s launch of OpenCode 2 limits its agents itself', (launch) => {
  expect(launchOf(launch, '2.1.3').config).not.toHaveProperty('agents')
  const agents = { build: { steps: 3 }, plan: { steps: 3 } }
  expect(launchOf(launch, '2.1.3', 3).config).toMatchObject({ agents })
})
