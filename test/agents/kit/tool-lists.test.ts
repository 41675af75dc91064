import { describe, expect, test } from 'vitest'
import type { Launch } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { type LaunchKind, MainstemError, type Policy, type SessionOptions } from '../../../src/model/index.ts'

type Lists = NonNullable<Policy['tools']>

function launchOf(
  id: string,
  kind: LaunchKind,
  tools: Lists,
  more: { policy?: Partial<Policy>; options?: SessionOptions } = {},
): Launch {
  const recipe = agents.find((agent) => agent.id === id)?.launches[kind]
  if (!recipe) throw new Error(`there is no ${kind} ${id}`)
  const policy: Policy = { approval: 'auto-all', sandbox: 'none', ...more.policy, tools }
  return recipe.launch({ launch: kind, cwd: '/x', policy, options: more.options ?? {}, epoch: 1 })
}

/** Everything that a program is started with, as one text. */
function passed(...given: Parameters<typeof launchOf>): string {
  const launch = launchOf(...given)
  if (!('argv' in launch)) throw new Error('there is no program')
  const { argv, env, files = [] } = launch
  return [...argv, ...Object.values(env), ...files.map(({ text }) => text)].join('\n')
}

function refusal(...given: Parameters<typeof launchOf>): string {
  try {
    launchOf(...given)
  } catch (thrown) {
    if (thrown instanceof MainstemError && thrown.code === 'unsupported_option') return thrown.message
    throw thrown
  }
  throw new Error('it was accepted')
}

describe('a canonical name in tools.denied means every tool of its kind', () => {
  test.each<[string, LaunchKind, string, string]>([
    ['claude', 'live', 'execute', '--disallowedTools=Bash,PowerShell,Monitor'],
    ['claude', 'oneshot', 'edit', '--disallowedTools=Write,Edit,NotebookEdit'],
    ['claude', 'live', 'mcp:docs/search', '--disallowedTools=mcp__docs__search'],
    ['claude', 'live', 'mcp:docs', '--disallowedTools=mcp__docs__*'],
    ['codex', 'oneshot', 'execute', '--config=features={shell_tool=false}'],
    ['codex', 'oneshot', 'search', '--config=web_search="disabled"'],
    ['codex', 'oneshot', 'task', '--config=features={multi_agent=false,multi_agent_v2=false}'],
    ['gemini', 'live', 'execute', 'toolName = "run_shell_command"\ndecision = "deny"'],
    ['gemini', 'oneshot', 'execute', 'toolName = "run_shell_command"\ndecision = "deny"'],
    ['gemini', 'live', 'mcp:docs', 'toolName = "mcp_docs_*"\ndecision = "deny"'],
    ['opencode', 'live', 'execute', '{"bash":"deny"}'],
    ['opencode', 'oneshot', 'edit', '{"edit":"deny"}'],
    ['opencode', 'live', 'mcp:my docs/search', '{"my_docs_search":"deny"}'],
    ['opencode', 'live', 'mcp:docs', '{"docs_*":"deny"}'],
    ['pi', 'live', 'edit', '--exclude-tools\nedit,write'],
    ['pi', 'oneshot', 'mcp:docs/search', '--exclude-tools\nmcp__docs__search'],
  ])('%s %s: %s', (agent, kind, name, native) => {
    expect(passed(agent, kind, { denied: [name] })).toContain(native)
  })
})

describe('a name of another agent', () => {
  test.each<[string, LaunchKind, string, string]>([
    ['opencode', 'live', 'Bash', '{"bash":"deny"}'],
    ['opencode', 'oneshot', 'Edit', '{"edit":"deny"}'],
    ['opencode', 'live', 'WebFetch', '{"webfetch":"deny"}'],
    ['gemini', 'live', 'Bash', 'toolName = "run_shell_command"'],
    ['codex', 'oneshot', 'WebSearch', '--config=web_search="disabled"'],
    ['pi', 'live', 'Read', '--exclude-tools\nread'],
    ['claude', 'live', 'bash', '--disallowedTools=Bash'],
  ])('is mapped where it means one tool: %s %s %s', (agent, kind, name, native) => {
    expect(passed(agent, kind, { denied: [name] })).toContain(native)
  })

  test('is refused with the tools it may mean where there are several', () => {
    expect(refusal('gemini', 'live', { denied: ['Write'] })).toBe(
      'tools.denied is not supported by gemini: it has no tool "Write"; use edit or one of write_file, replace',
    )
  })

  test.each(['claude', 'codex', 'gemini', 'opencode', 'pi'])(
    'is refused by %s when it has no such tool',
    (id) => {
      for (const list of ['preapproved', 'denied'] as const) {
        expect(refusal(id, 'live', { [list]: ['Frobnicate'] })).toMatch(
          `tools.${list} is not supported by ${id}`,
        )
        expect(refusal(id, 'live', { [list]: ['delete'] })).toMatch('it has no tool for "delete" alone')
      }
    },
  )
})

describe('only some tools exist', () => {
  test('claude excludes the servers of its own settings and those that are not named', () => {
    const options = { mcpServers: { docs: { command: 'x' }, web: { command: 'y' } } }
    const argv = passed('claude', 'oneshot', { available: ['read', 'mcp:docs'] }, { options })
    expect(argv).toContain('--tools=Read,NotebookRead\n--strict-mcp-config\n--disallowedTools=mcp__web__*')
  })

  test.each([
    [['mcp:docs'], 'pass the server "docs" in mcpServers'],
    [['mcp:docs/search'], 'it offers all tools of a server or none; use mcp:docs'],
    [['Bash(git log:*)'], '"Bash(git log:*)" is a rule'],
  ])('claude refuses %s', (available, why) => {
    expect(refusal('claude', 'live', { available })).toContain(why)
  })

  test('gemini denies all others, and requests approval for those of a server', () => {
    const rules = passed('gemini', 'live', { available: ['read', 'mcp:docs'] })
    expect(rules).not.toContain('"read_file"')
    expect(rules).toContain('toolName = "mcp_docs_*"\ndecision = "ask_user"\npriority = 998')
    expect(rules).toMatch(
      /^toolName = \["write_file",.*"run_shell_command",.*"mcp_\*"\]\ndecision = "deny"\npriority = 997$/m,
    )
    expect(refusal('gemini', 'oneshot', { available: ['mcp:docs'] })).toContain('tools of servers')
  })

  test('a one-shot codex refuses, because servers of its settings would stay', () => {
    expect(refusal('codex', 'oneshot', { available: ['execute'] })).toContain('only its live launch')
    expect(refusal('codex', 'live', { available: ['Frobnicate'] })).toContain('it has no tool')
  })

  test('a kind switches on no tool of pi that is off by default', () => {
    expect(passed('pi', 'live', { available: ['execute', 'search'] })).toContain(
      '--tools\nbash,grep,find,ls\n',
    )
  })
})

describe('codex', () => {
  test('one-shot refuses to deny patches, unless nothing can be written', () => {
    const denied = ['edit']
    expect(refusal('codex', 'oneshot', { denied })).toContain('patches files without approval')
    expect(passed('codex', 'oneshot', { denied }, { policy: { sandbox: 'read-only' } })).toContain(
      '--sandbox=read-only',
    )
  })

  test('one-shot refuses to approve what its sandbox may prevent, and tools of servers', () => {
    const policy = { sandbox: 'full-access' } as const
    expect(refusal('codex', 'oneshot', { preapproved: ['execute'] })).toContain('requests no approval')
    expect(refusal('codex', 'oneshot', { preapproved: ['mcp:docs'] }, { policy })).toContain(
      'its live launch',
    )
    expect(() => launchOf('codex', 'oneshot', { preapproved: ['execute'] }, { policy })).not.toThrow()
  })

  test('a denied server of the session is disabled, a denied tool of one is excluded', () => {
    const options = { mcpServers: { docs: { command: 'x', excludeTools: ['old'] }, web: { command: 'y' } } }
    const argv = passed('codex', 'oneshot', { denied: ['mcp:web', 'mcp:docs/new'] }, { options })
    expect(argv).toContain('mcp_servers.docs={command="x",disabled_tools=["old","new"]}')
    expect(argv).toContain('mcp_servers.web={command="y",enabled=false}')
  })
})

test('gemini one-shot approves nothing that changes something in plan mode', () => {
  const preapproved = ['execute', 'read']
  const policy = { approval: 'ask', sandbox: 'read-only' } as const
  const argv = passed('gemini', 'oneshot', { preapproved }, { policy })
  expect(argv).toContain('--allowed-tools=read_file')
  expect(argv).not.toContain('--allowed-tools=run_shell_command')
})
