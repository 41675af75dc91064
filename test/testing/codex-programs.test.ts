import { expect, it } from 'vitest'
import * as z from 'zod'
import { type Reply, scriptedModel } from '../../src/testing/index.ts'

/** What Codex sends with its default model: the tools stand in the conversation. */
const TOOLS = {
  type: 'additional_tools',
  role: 'developer',
  tools: [
    {
      type: 'namespace',
      name: 'functions',
      tools: [
        { type: 'custom', name: 'exec' },
        { type: 'function', name: 'request_user_input', parameters: { properties: { questions: {} } } },
      ],
    },
    {
      type: 'namespace',
      name: 'collaboration',
      tools: ['spawn_agent', 'wait_agent'].map((name) => ({ type: 'function', name })),
    },
  ],
}

const Answer = z.object({
  output: z.array(
    z.object({
      type: z.string(),
      name: z.string(),
      namespace: z.string().optional(),
      input: z.string().optional(),
      arguments: z.string().optional(),
    }),
  ),
})

const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'SCENARIO:x' }] }

async function callsOf(reply: Reply, prompt: object = user) {
  await using model = await scriptedModel({ scenarios: { x: { replies: [reply] } } })
  const body = JSON.stringify({ model: 'default', input: [TOOLS, prompt] })
  const response = await fetch(`${model.url}/v1/responses`, { method: 'POST', body })
  return Answer.parse(await response.json()).output.map(({ arguments: given, ...call }) => ({
    ...call,
    ...(given !== undefined && { input: JSON.parse(given) }),
  }))
}

it('Codex’s default model runs a command by a program', async () => {
  expect(await callsOf({ calls: [{ do: 'shell', command: 'ls' }] })).toEqual([
    {
      type: 'custom_tool_call',
      name: 'exec',
      namespace: 'functions',
      input: 'text(await tools.exec_command({"cmd":"ls"}))',
    },
  ])
})

it.each<[string, NonNullable<Reply['calls']>[number], string]>([
  ['read', { do: 'read', path: '/a' }, 'exec_command({"cmd":"cat /a"})'],
  [
    'write',
    { do: 'write', path: '/a', content: 'x\n' },
    'apply_patch("*** Begin Patch\\n*** Add File: /a\\n+x\\n*** End Patch")',
  ],
  [
    'edit',
    { do: 'edit', path: '/a', from: 'x', to: 'y' },
    'apply_patch("*** Begin Patch\\n*** Update File: /a\\n@@\\n-x\\n+y\\n*** End Patch")',
  ],
  [
    'plan',
    { do: 'plan', items: [{ text: 'a', status: 'pending' }] },
    'update_plan({"plan":[{"step":"a","status":"pending"}]})',
  ],
  ['mcp', { do: 'mcp', server: 's', tool: 't', input: { a: 1 } }, 'mcp__s__t({"a":1})'],
])('Codex’s default model can %s by a program', async (_name, call, program) => {
  expect(await callsOf({ calls: [call] })).toMatchObject([{ input: `text(await tools.${program})` }])
})

it('Codex’s default model calls sub-agents and questions directly', async () => {
  const calls: Reply['calls'] = [
    { do: 'delegate', task: 'a job' },
    { do: 'join' },
    { do: 'ask', question: 'Which?', options: ['A'] },
  ]
  expect(await callsOf({ calls })).toMatchObject([
    { name: 'spawn_agent', namespace: 'collaboration', input: { message: 'a job', task_name: 'job' } },
    { name: 'wait_agent', namespace: 'collaboration' },
    { name: 'request_user_input', namespace: 'functions', input: { questions: [{ question: 'Which?' }] } },
  ])
})

it('the task of a sub-agent is its prompt', async () => {
  const content = [
    { type: 'input_text', text: 'Payload:\n' },
    { type: 'encrypted_content', encrypted_content: 'SCENARIO:x' },
  ]
  const task = { type: 'agent_message', author: '/root', recipient: '/root/job', content }
  expect(await callsOf({ calls: [{ do: 'shell', command: 'ls' }] }, task)).toHaveLength(1)
})
