import { describe, expect, test } from 'vitest'
import { acpAgents } from '../../../src/agents/acp/agent.ts'
import type { ProcessLaunch, Start } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import {
  Approval,
  DEFAULT_POLICY,
  MainstemError,
  type Policy,
  Sandbox,
  type SessionOptions,
} from '../../../src/model/index.ts'
import { agentOf } from './acp-talk.ts'

function launch(agent: string, start: Partial<Start> = {}): ProcessLaunch {
  const recipe = agentOf(agent).launches.live
  const launched = recipe?.launch({
    launch: 'live',
    cwd: '/project',
    policy: DEFAULT_POLICY,
    options: {},
    epoch: 1,
    ...start,
  })
  if (launched?.kind !== 'process') throw new Error(`${agent} starts no process`)
  return launched
}

function refusal(agent: string, start: Partial<Start>): string {
  try {
    launch(agent, start)
  } catch (thrown) {
    if (thrown instanceof MainstemError) return thrown.code
    throw thrown
  }
  return 'accepted'
}

describe('the registry', () => {
  test.each([
    ['acp', ['acp']],
    ['auggie', ['auggie', '--acp']],
    ['claude-agent-acp', ['claude-agent-acp']],
    ['cline', ['cline', '--acp']],
    ['codex-acp', ['codex-acp']],
    ['copilot', ['copilot', '--acp']],
    ['cursor', ['cursor-agent', 'acp']],
    ['devin', ['devin', 'acp']],
    ['droid', ['droid', 'exec', '--output-format', 'acp']],
    ['goose', ['goose', 'acp']],
    ['grok', ['grok', 'agent', 'stdio']],
    ['iflow', ['iflow', '--experimental-acp']],
    ['junie', ['junie', '--acp=true']],
    ['kimi', ['kimi', 'acp']],
    ['kiro', ['kiro-cli-chat', 'acp']],
    ['opencode-acp', ['opencode', 'acp']],
    ['pi-acp', ['pi-acp']],
    ['qoder', ['qodercli', '--acp']],
    ['qwen', ['qwen', '--acp']],
    ['gemini', ['gemini', '--acp']],
  ])('%s starts its own program', (agent, argv) => {
    expect(launch(agent).argv).toEqual(argv)
  })

  test('no id is used twice', () => {
    const ids = agents.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('only an agent’s own variables reach it', () => {
    expect(launch('acp').passEnv).toEqual([])
    expect(launch('copilot').passEnv).toEqual(['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'])
    for (const { id } of acpAgents) expect(launch(id).passEnv).not.toContain('*')
  })

  test('an agent with configured permissions gets them', () => {
    const permission = (policy: Policy) => {
      const { OPENCODE_CONFIG_CONTENT = '{}', OPENCODE_PERMISSION = '{}' } = launch('opencode-acp', {
        policy,
      }).env
      const rules = JSON.parse(OPENCODE_PERMISSION)
      expect(JSON.parse(OPENCODE_CONFIG_CONTENT).permission).toEqual(rules)
      return rules
    }
    expect(permission(DEFAULT_POLICY)).toMatchObject({ bash: 'ask', edit: 'ask' })
    expect(permission({ approval: 'auto-edit', sandbox: 'none' })).toMatchObject({
      bash: 'ask',
      edit: 'allow',
    })
    expect(permission({ approval: 'auto-all', sandbox: 'none' })).toEqual({ '*': 'allow' })
    expect(permission({ approval: 'ask', sandbox: 'read-only' })).toMatchObject({
      bash: 'deny',
      edit: 'deny',
    })
  })

  test('an agent that skips servers in silence is not given them', () => {
    const options = (server: object) => ({ options: { mcpServers: { demo: server } } })
    expect(() => launch('copilot', options({ command: 'node' }))).toThrow(/mcpServers.demo .* by url only/)
    expect(launch('copilot', options({ url: 'http://127.0.0.1:1/mcp' })).argv).toEqual(['copilot', '--acp'])
    expect(launch('qwen', options({ command: 'node' })).argv).toEqual(['qwen', '--acp'])
  })

  test('gemini gets its model on the command line and starts without its launcher', () => {
    const { argv, env } = launch('gemini', { options: { model: 'gemini-2.5-pro' } })
    expect(argv).toEqual(['gemini', '--acp', '--model=gemini-2.5-pro'])
    expect(env).toEqual({ GEMINI_CLI_NO_RELAUNCH: 'true' })
  })
})

describe('policy', () => {
  const PLAIN = {
    'ask none': true,
    'ask read-only': true,
    'ask workspace-write': false,
    'ask full-access': true,
    'ask-dangerous none': true,
    'ask-dangerous read-only': true,
    'ask-dangerous workspace-write': false,
    'ask-dangerous full-access': true,
    'auto-edit none': true,
    'auto-edit read-only': false,
    'auto-edit workspace-write': false,
    'auto-edit full-access': true,
    'auto-all none': true,
    'auto-all read-only': true,
    'auto-all workspace-write': false,
    'auto-all full-access': true,
  }
  const CODEX = {
    ...PLAIN,
    'ask full-access': false,
    'ask-dangerous full-access': false,
    'ask-dangerous workspace-write': true,
    'auto-edit none': false,
    'auto-edit full-access': false,
    'auto-edit workspace-write': true,
    'auto-all read-only': false,
  }

  test.each([
    ['acp', PLAIN],
    ['gemini', PLAIN],
    ['qwen', PLAIN],
    ['claude-agent-acp', PLAIN],
    ['opencode-acp', PLAIN],
    ['copilot', PLAIN],
    ['codex-acp', CODEX],
  ])('%s accepts exactly the cells that it can enforce', (agent, cells) => {
    const taken = Approval.options.flatMap((approval) =>
      Sandbox.options.map((sandbox) => {
        const code = refusal(agent, { policy: { approval, sandbox } })
        expect(['accepted', 'unsupported_option']).toContain(code)
        return [`${approval} ${sandbox}`, code === 'accepted'] as const
      }),
    )
    expect(Object.fromEntries(taken)).toEqual(cells)
  })

  test.each<[string, Partial<Policy>]>([
    ['network', { network: false }],
    ['writableRoots', { writableRoots: ['/x'] }],
    ['tools', { tools: { denied: ['Frobnicate'] } }],
    ['maxSteps', { maxSteps: 3 }],
    ['maxBudgetUsd', { maxBudgetUsd: 1 }],
  ])('%s is refused before anything starts', (_name, limit) => {
    expect(refusal('acp', { policy: { ...DEFAULT_POLICY, ...limit } })).toBe('unsupported_option')
    expect(refusal('gemini', { policy: { ...DEFAULT_POLICY, ...limit } })).toBe('unsupported_option')
  })

  test('times are ours to keep', () => {
    expect(refusal('acp', { policy: { ...DEFAULT_POLICY, timeoutMs: 1000, idleTimeoutMs: 100 } })).toBe(
      'accepted',
    )
  })
})

describe('options', () => {
  test.each<[string, SessionOptions, string]>([
    ['model', { model: 'big' }, 'accepted'],
    ['effort', { effort: 'high' }, 'accepted'],
    ['a server by command', { mcpServers: { x: { command: '/bin/x' } } }, 'accepted'],
    ['a server by url', { mcpServers: { x: { url: 'https://x.test' } } }, 'accepted'],
    ['a server of nothing', { mcpServers: { x: {} } }, 'unsupported_option'],
    ['a trusted server', { mcpServers: { x: { command: '/bin/x', trust: true } } }, 'unsupported_option'],
    [
      'some tools of a server',
      { mcpServers: { x: { command: '/bin/x', includeTools: ['a'] } } },
      'unsupported_option',
    ],
    ['user settings', { isolation: 'user' }, 'accepted'],
    ['no settings', { isolation: 'bare' }, 'unsupported_option'],
    ['system prompt', { systemPrompt: { append: 'x' } }, 'unsupported_option'],
    ['extra directories', { extraDirectories: ['/x'] }, 'unsupported_option'],
    ['output schema', { outputSchema: {} }, 'unsupported_option'],
    ['checkpointing', { checkpointing: true }, 'unsupported_option'],
  ])('%s: %#', (_name, options, expected) => {
    expect(refusal('acp', { options })).toBe(expected)
  })

  test('gemini has no effort', () => {
    expect(refusal('gemini', { options: { effort: 'high' } })).toBe('unsupported_option')
  })
})
