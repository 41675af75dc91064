import { describe, expect, it } from 'vitest'
import { type Action, type Reply, SCENARIOS } from '../../src/testing/index.ts'
import { ask, CLIENTS, prompt, saying } from './ask.ts'
import type { Client, Tool } from './clients/client.ts'
import { CLAUDE, CODEX, GEMINI, OPENCODE } from './offered.ts'

const PROGRAMS = {
  claude: { client: CLIENTS.messages, tools: CLAUDE },
  codex: { client: CLIENTS.responses, tools: CODEX },
  gemini: { client: CLIENTS.gemini, tools: GEMINI },
  opencode: { client: CLIENTS.chat, tools: OPENCODE },
} satisfies Record<string, { client: Client; tools: readonly Tool[] }>

type Program = keyof typeof PROGRAMS

async function answer(program: Program, reply: Reply, text = 'SCENARIO:x') {
  await using model = await saying(reply)
  const { client, tools } = PROGRAMS[program]
  const { calls, ...heard } = await ask(model, client, { turns: prompt(text), tools })
  return { ...heard, calls: calls.map(({ name, input }) => [name, input]) }
}

const options = [
  { label: 'A', description: 'Choose A' },
  { label: 'B', description: 'Choose B' },
]
const items = [
  { text: 'one', status: 'completed' },
  { text: 'two', status: 'in_progress' },
] as const

/** What each program is told to call for an action; `none` where it has no tool for it. */
const TABLE: { [Do in Action['do']]?: [Extract<Action, { do: Do }>, Record<Program, unknown>] } = {
  shell: [
    { do: 'shell', command: 'ls' },
    {
      claude: [['Bash', { command: 'ls', description: 'Run a command' }]],
      codex: [['exec_command', { cmd: 'ls' }]],
      gemini: [['run_shell_command', { command: 'ls', description: 'Run a command' }]],
      opencode: [['bash', { command: 'ls' }]],
    },
  ],
  write: [
    { do: 'write', path: 'a.txt', content: 'one\ntwo\n' },
    {
      claude: [['Write', { file_path: 'a.txt', content: 'one\ntwo\n' }]],
      codex: [['apply_patch', '*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch']],
      gemini: [['write_file', { file_path: 'a.txt', content: 'one\ntwo\n' }]],
      opencode: [['write', { filePath: 'a.txt', content: 'one\ntwo\n' }]],
    },
  ],
  edit: [
    { do: 'edit', path: 'a.txt', from: 'one', to: 'two' },
    {
      claude: [['Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }]],
      codex: [['apply_patch', '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch']],
      gemini: [
        [
          'replace',
          {
            file_path: 'a.txt',
            old_string: 'one',
            new_string: 'two',
            instruction: 'Replace one by two',
          },
        ],
      ],
      opencode: [['edit', { filePath: 'a.txt', oldString: 'one', newString: 'two' }]],
    },
  ],
  read: [
    { do: 'read', path: 'a.txt' },
    {
      claude: [['Read', { file_path: 'a.txt' }]],
      codex: [['exec_command', { cmd: 'cat a.txt' }]],
      gemini: [['read_file', { file_path: 'a.txt' }]],
      opencode: [['read', { filePath: 'a.txt' }]],
    },
  ],
  plan: [
    { do: 'plan', items },
    {
      claude: [
        ['TaskUpdate', { taskId: '1', status: 'completed' }],
        ['TaskUpdate', { taskId: '2', status: 'in_progress' }],
      ],
      codex: [['update_plan', { plan: items.map(({ text, status }) => ({ step: text, status })) }]],
      gemini: [['write_todos', { todos: items.map(({ text, status }) => ({ description: text, status })) }]],
      opencode: [
        [
          'todowrite',
          { todos: items.map(({ text, status }) => ({ content: text, status, priority: 'medium' })) },
        ],
      ],
    },
  ],
  delegate: [
    { do: 'delegate', task: 'a job' },
    {
      claude: [
        [
          'Agent',
          {
            description: 'A job of its own',
            prompt: 'a job',
            subagent_type: 'general-purpose',
            run_in_background: false,
          },
        ],
      ],
      codex: [['spawn_agent', { message: 'a job' }]],
      gemini: [['invoke_agent', { agent_name: 'generalist', prompt: 'a job' }]],
      opencode: [['task', { description: 'A job of its own', prompt: 'a job', subagent_type: 'general' }]],
    },
  ],
  ask: [
    { do: 'ask', question: 'A or B?', options: ['A', 'B'] },
    {
      claude: [
        [
          'AskUserQuestion',
          { questions: [{ question: 'A or B?', header: 'Choice', multiSelect: false, options }] },
        ],
      ],
      codex: [
        [
          'request_user_input',
          { questions: [{ id: 'choice', header: 'Choice', question: 'A or B?', options }] },
        ],
      ],
      gemini: 'none',
      opencode: [['question', { questions: [{ question: 'A or B?', header: 'Choice', options }] }]],
    },
  ],
  propose: [
    { do: 'propose', plan: 'do it' },
    { claude: [['ExitPlanMode', { plan: 'do it' }]], codex: 'words', gemini: 'none', opencode: 'none' },
  ],
  mcp: [
    { do: 'mcp', server: 'demo', tool: 'echo', input: { text: 'hi' } },
    {
      claude: [['mcp__demo__echo', { text: 'hi' }]],
      codex: [['echo', { text: 'hi' }]],
      gemini: [['mcp_demo_echo', { text: 'hi' }]],
      opencode: [['demo_echo', { text: 'hi' }]],
    },
  ],
}

const cells = Object.values(TABLE).flatMap(([action, expected]) =>
  Object.entries(expected).map(
    ([program, calls]) => [action.do, program as Program, action as Action, calls] as const,
  ),
)

describe('an action', () => {
  it.each(cells)('%s is called by the names of %s', async (_do, program, action, expected) => {
    const { calls, text } = await answer(program, { calls: [action] })
    if (expected === 'none') {
      expect(calls).toEqual([])
      expect(text).toMatch(new RegExp(`^\\[no tool to ${action.do} among .*\\]$`))
    } else if (expected === 'words') {
      expect(calls).toEqual([])
      expect(text).toBe('<proposed_plan>\ndo it\n</proposed_plan>')
    } else expect(calls).toEqual(expected)
  })

  it('that makes a plan creates the tasks of Claude Code', async () => {
    const items = [{ text: 'one', status: 'pending' }] as const
    expect((await answer('claude', { calls: [{ do: 'plan', items }] })).calls).toEqual([
      ['TaskCreate', { subject: 'one', description: 'one', activeForm: 'one' }],
    ])
  })

  it('that needs more than the sandbox allows asks for it in Codex, and nowhere else', async () => {
    const calls: Action[] = [{ do: 'shell', command: 'ls', escalate: true }]
    expect((await answer('codex', { calls })).calls).toMatchObject([
      ['exec_command', { cmd: 'ls', sandbox_permissions: 'require_escalated' }],
    ])
    expect((await answer('opencode', { calls })).calls).toEqual([['bash', { command: 'ls' }]])
  })

  it('works below the directory that the user names', async () => {
    const calls: Action[] = [{ do: 'read', path: 'a.txt' }]
    const where = async (program: Program) => (await answer(program, { calls }, 'SCENARIO:x CWD:/w ok')).calls
    expect(await where('claude')).toEqual([['Read', { file_path: '/w/a.txt' }]])
    expect(await where('codex')).toEqual([['exec_command', { cmd: 'cat /w/a.txt' }]])
  })

  it('on an MCP server is called in the namespace that Codex has for it, hidden or shown', async () => {
    await using model = await saying({ calls: [{ do: 'mcp', server: 'demo', tool: 'echo', input: {} }] })
    const shown = { type: 'namespace', name: 'mcp__demo', tools: [{ type: 'function', name: 'echo' }] }
    const hidden = [{ type: 'tool_search' }, { type: 'function', name: 'exec_command' }]
    for (const tools of [[shown], hidden]) {
      const body = JSON.stringify({ tools, input: 'SCENARIO:x' })
      const response = await fetch(`${model.url}/v1/responses`, { method: 'POST', body })
      expect(await response.json()).toMatchObject({ output: [{ name: 'echo', namespace: 'mcp__demo' }] })
    }
  })

  it('that shows a plan writes it where Gemini CLI says that plans belong', async () => {
    await using model = await saying({ calls: [{ do: 'propose', plan: 'do it' }] })
    const names = ['write_file', 'exit_plan_mode'].map((name) => ({ name }))
    const body = JSON.stringify({
      tools: [{ functionDeclarations: names }],
      systemInstruction: { parts: [{ text: 'Save your plans ONLY within: `/plans`' }] },
      contents: [{ role: 'user', parts: [{ text: 'SCENARIO:x' }] }],
    })
    const response = await fetch(`${model.url}/v1beta/models/any:generateContent`, { method: 'POST', body })
    expect(await response.json()).toMatchObject({
      candidates: [
        {
          content: {
            parts: [
              {
                functionCall: { name: 'write_file', args: { file_path: '/plans/plan.md', content: 'do it' } },
              },
              { functionCall: { name: 'exit_plan_mode', args: { plan_filename: 'plan.md' } } },
            ],
          },
        },
      ],
    })
  })

  it('is called by a name that does not tell its arguments', async () => {
    await using model = await saying({ calls: [{ do: 'shell', command: 'ls' }] })
    const tools = [{ type: 'function', function: { name: 'bash' } }]
    const messages = [{ role: 'user', content: 'SCENARIO:x' }]
    const body = JSON.stringify({ tools, messages })
    const response = await fetch(`${model.url}/v1/chat/completions`, { method: 'POST', body })
    expect(await response.json()).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { name: 'bash', arguments: '{"command":"ls"}' } }] } }],
    })
  })

  it('is not called by a name whose arguments are others', async () => {
    await using model = await saying({ calls: [{ do: 'edit', path: 'a', from: 'b', to: 'c' }] })
    const tools = [{ name: 'edit', parameters: ['file', 'patch'] }]
    const { calls, text } = await ask(model, CLIENTS.chat, { tools })
    expect(calls).toEqual([])
    expect(text).toBe('[no tool to edit among edit]')
  })
})

describe('a sub-agent', () => {
  const last = SCENARIOS.subagent.replies.at(-1)

  it('of Codex is waited for by its id', async () => {
    await using model = await saying({})
    const turns = [
      ...prompt('SCENARIO:subagent'),
      { role: 'assistant', text: 'spawned' },
      { role: 'tool', text: '{"agent_id":"thread-7","nickname":"Kepler"}' },
    ] as const
    const { calls } = await ask(model, CLIENTS.responses, { turns, tools: CODEX })
    expect(calls).toMatchObject([{ name: 'wait_agent', input: { targets: ['thread-7'] } }])
  })

  it.each(['claude', 'gemini', 'opencode'] as const)('of %s has been waited for already', async (program) => {
    await using model = await saying({})
    const { client, tools } = PROGRAMS[program]
    const turns = [
      ...prompt('SCENARIO:subagent'),
      { role: 'assistant', text: 'handed over' },
      { role: 'tool', text: 'done' },
    ] as const
    expect(await ask(model, client, { turns, tools })).toMatchObject({ text: last?.text, calls: [] })
  })

  it('of Gemini CLI ends by a call', async () => {
    await using model = await saying({ text: 'the result' })
    const tools = [...GEMINI, { name: 'complete_task', parameters: ['result', 'wait_for_previous'] }]
    const { text, calls } = await ask(model, CLIENTS.gemini, { tools })
    expect(text).toBe('the result')
    expect(calls).toMatchObject([{ name: 'complete_task', input: { result: { response: 'the result' } } }])
    const working = await ask(model, CLIENTS.gemini, { turns: prompt('SCENARIO:inner'), tools })
    expect(working.calls.map(({ name }) => name)).toEqual(['run_shell_command'])
  })
})

describe('structured output', () => {
  const structured = { name: 'Ada', age: 36 }

  it('is a call where there is a tool for it', async () => {
    await using model = await saying({ structured })
    const tools = [...CLAUDE, { name: 'StructuredOutput', parameters: ['name', 'age'] }]
    const { text, calls } = await ask(model, CLIENTS.messages, { tools })
    expect(text).toBe('')
    expect(calls).toMatchObject([{ name: 'StructuredOutput', input: structured }])
  })

  it.each(Object.keys(PROGRAMS) as Program[])('is JSON as text without one, as in %s', async (program) => {
    const { text, calls } = await answer(program, { structured })
    expect(JSON.parse(text)).toEqual(structured)
    expect(calls).toEqual([])
  })
})

describe('a call by name', () => {
  it.each(Object.keys(PROGRAMS) as Program[])(
    'reaches %s, whether the tool is there or not',
    async (program) => {
      const { calls } = await answer(program, { calls: [{ name: 'no_such_tool', input: { a: 1 } }] })
      expect(calls).toEqual([['no_such_tool', { a: 1 }]])
    },
  )
})
