import { describe, expect, test } from 'vitest'
import type { ProcessLaunch } from '../../../src/agents/agent.ts'
import { codex } from '../../../src/agents/codex/agent.ts'
import {
  type Approval,
  type LaunchKind,
  MainstemError,
  type Policy,
  type Sandbox,
  type SessionOptions,
} from '../../../src/model/index.ts'
import { type Setup, startOf, wire, written } from './codex-wire.ts'

function launch(kind: LaunchKind, setup: Setup = {}): ProcessLaunch {
  const launched = codex.launches[kind]?.launch(startOf(kind, setup))
  if (launched?.kind !== 'process') throw new Error('not a process')
  return launched
}

/** The error code of a launch that is refused; the arguments of one that is not. */
function refusal(kind: LaunchKind, setup: Setup): unknown {
  try {
    return launch(kind, setup).argv
  } catch (thrown) {
    return thrown instanceof MainstemError ? thrown.code : thrown
  }
}

const REFUSED = 'unsupported_option'
const BYPASS = '--dangerously-bypass-approvals-and-sandbox'

/** approval, sandbox, arguments of the one-shot launch, what the live launch opens its thread with. */
const CELLS: [Approval, Sandbox, string[] | typeof REFUSED, object | typeof REFUSED][] = [
  ['ask', 'none', [], { approvalPolicy: 'untrusted' }],
  ['ask', 'read-only', ['--sandbox=read-only'], { approvalPolicy: 'untrusted', sandbox: 'read-only' }],
  [
    'ask',
    'workspace-write',
    ['--sandbox=workspace-write'],
    { approvalPolicy: 'untrusted', sandbox: 'workspace-write' },
  ],
  ['ask', 'full-access', REFUSED, { approvalPolicy: 'untrusted', sandbox: 'danger-full-access' }],
  // "on-request" asks for what leaves the sandbox; without one it would never ask.
  ['ask-dangerous', 'none', [], { approvalPolicy: 'untrusted' }],
  [
    'ask-dangerous',
    'read-only',
    ['--sandbox=read-only'],
    { approvalPolicy: 'on-request', sandbox: 'read-only' },
  ],
  [
    'ask-dangerous',
    'workspace-write',
    ['--sandbox=workspace-write'],
    { approvalPolicy: 'on-request', sandbox: 'workspace-write' },
  ],
  ['ask-dangerous', 'full-access', REFUSED, { approvalPolicy: 'untrusted', sandbox: 'danger-full-access' }],
  ['auto-edit', 'none', REFUSED, REFUSED],
  ['auto-edit', 'read-only', REFUSED, REFUSED],
  [
    'auto-edit',
    'workspace-write',
    ['--sandbox=workspace-write'],
    { approvalPolicy: 'on-request', sandbox: 'workspace-write' },
  ],
  ['auto-edit', 'full-access', REFUSED, REFUSED],
  ['auto-all', 'none', [], { approvalPolicy: 'never' }],
  ['auto-all', 'read-only', ['--sandbox=read-only'], { approvalPolicy: 'never', sandbox: 'read-only' }],
  [
    'auto-all',
    'workspace-write',
    ['--sandbox=workspace-write'],
    { approvalPolicy: 'never', sandbox: 'workspace-write' },
  ],
  ['auto-all', 'full-access', [BYPASS], { approvalPolicy: 'never', sandbox: 'danger-full-access' }],
]

describe('policy', () => {
  test('the table has every cell', () => {
    expect(new Set(CELLS.map(([approval, sandbox]) => `${approval} ${sandbox}`)).size).toBe(16)
  })

  test.each(CELLS)('%s × %s, one shot', (approval, sandbox, args) => {
    const argv = ['codex', 'exec', '--json', '--skip-git-repo-check', ...args, '-']
    expect(refusal('oneshot', { policy: { approval, sandbox } })).toEqual(args === REFUSED ? REFUSED : argv)
  })

  test.each(CELLS)('%s × %s, live', (approval, sandbox, _args, params) => {
    const policy = { approval, sandbox }
    const argv = ['codex', 'app-server']
    expect(refusal('live', { policy })).toEqual(params === REFUSED ? REFUSED : argv)
    if (params !== REFUSED) expect(threadStart({ policy })).toEqual({ cwd: '/project', ...params })
  })

  test.each<[string, Omit<Policy, 'approval'>]>([
    ['only tools that it does not have', { sandbox: 'none', tools: { available: ['read'] } }],
    ['a budget', { sandbox: 'none', maxBudgetUsd: 1 }],
    ['writable roots without their sandbox', { sandbox: 'full-access', writableRoots: ['/a'] }],
    ['a network that no sandbox holds', { sandbox: 'none', network: false }],
    ['a network in the read-only sandbox', { sandbox: 'read-only', network: true }],
    ['no network without a sandbox', { sandbox: 'full-access', network: false }],
  ])('%s is refused by both launches', (_name, policy) => {
    const setup: Setup = { policy: { approval: 'auto-all', ...policy } }
    expect([refusal('live', setup), refusal('oneshot', setup)]).toEqual([REFUSED, REFUSED])
  })

  test('steps are counted where they are reported: live', () => {
    const policy: Policy = { approval: 'ask', sandbox: 'none', maxSteps: 3 }
    expect(refusal('oneshot', { policy })).toBe(REFUSED)
    expect(refusal('live', { policy })).toEqual(['codex', 'app-server'])
  })

  test('network and writable roots refine the workspace sandbox', () => {
    const policy: Policy = {
      approval: 'auto-all',
      sandbox: 'workspace-write',
      network: true,
      writableRoots: ['/a "b"', '/c'],
    }
    expect(launch('oneshot', { policy }).argv).toContain(
      '--config=sandbox_workspace_write.network_access=true',
    )
    expect(launch('oneshot', { policy }).argv).toContain(
      '--config=sandbox_workspace_write.writable_roots=["/a \\"b\\"","/c"]',
    )
  })
})

/** What the live launch opens its thread with. */
function threadStart(setup: Setup): unknown {
  const codec = wire('live', setup)
  codec.command({ type: 'open' })
  return Object(written(codec.hear({ id: 'c1', result: {} })).at(-1)).params
}

describe('options', () => {
  test('become arguments that cannot be parsed as flags', () => {
    const options: SessionOptions = {
      model: 'gpt-5.5',
      effort: 'high',
      systemPrompt: { append: '--help "me"\n\u007f' },
      extraDirectories: ['-rf'],
      mcpServers: { demo: { command: 'node', args: ['-e', '1'], includeTools: ['echo'] } },
    }
    expect(launch('oneshot', { options }).argv.slice(4, -1)).toEqual([
      '--model=gpt-5.5',
      '--config=model_reasoning_effort="high"',
      '--config=developer_instructions="--help \\"me\\"\\n\\u007f"',
      '--add-dir=-rf',
      '--config=mcp_servers.demo={command="node",args=["-e","1"],enabled_tools=["echo"]}',
    ])
  })

  test('a session to resume is a subcommand, and its id is validated again', () => {
    expect(launch('oneshot', { resume: 'thread-1' }).argv.slice(-3)).toEqual(['resume', 'thread-1', '-'])
    expect(launch('oneshot', { resume: 'thread-1', fork: true }).argv.slice(-3)).toEqual([
      'fork',
      'thread-1',
      '-',
    ])
    for (const resume of ['--last', '-c', 'a b', '']) {
      expect(refusal('oneshot', { resume })).toBe('invalid_request')
    }
  })

  test.each<[string, SessionOptions]>([
    ['checkpointing', { checkpointing: true }],
    ['leaving out the settings of the project', { isolation: 'no-project' }],
    ['leaving out all settings', { isolation: 'bare' }],
    ['an MCP server whose name is a path of keys', { mcpServers: { 'a.b': { command: 'x' } } }],
    ['trust in an MCP server', { mcpServers: { a: { command: 'x', trust: true } } }],
  ])('%s is refused by both launches', (_name, options) => {
    expect([refusal('live', { options }), refusal('oneshot', { options })]).toEqual([REFUSED, REFUSED])
  })

  test.each<[string, SessionOptions]>([
    ['another system prompt', { systemPrompt: { replace: 'x' } }],
    ['variables of an MCP server', { mcpServers: { a: { command: 'x', env: { KEY: 'secret' } } } }],
    ['headers of an MCP server', { mcpServers: { a: { url: 'http://x', headers: { a: 'secret' } } } }],
  ])('%s is for the live launch only', (_name, options) => {
    expect(refusal('oneshot', { options })).toBe(REFUSED)
    expect(refusal('live', { options })).toEqual(['codex', 'app-server'])
  })

  test('instructions for a conversation that began elsewhere are refused, because Codex would ignore them', () => {
    const setup = { resume: 'thread-1', options: { systemPrompt: { append: 'x' } } }
    for (const kind of ['live', 'oneshot'] as const) {
      expect(refusal(kind, setup)).toBe(REFUSED)
      // A later process of the same session: the conversation has them.
      expect(refusal(kind, { ...setup, epoch: 2 })).not.toBe(REFUSED)
    }
    expect(refusal('live', { ...setup, options: { systemPrompt: { replace: 'x' } } })).not.toBe(REFUSED)
  })

  test('values that no argument can contain are rejected', () => {
    expect(refusal('oneshot', { options: { extraDirectories: ['a\0b'] } })).toBe('invalid_request')
    expect(refusal('oneshot', { options: { systemPrompt: { append: '\ud800' } } })).toBe('invalid_request')
    const long = 'x'.repeat(200_000)
    expect(refusal('oneshot', { options: { systemPrompt: { append: long } } })).toBe(REFUSED)
  })

  test('only variables of Codex pass to it', () => {
    for (const kind of ['live', 'oneshot'] as const) {
      expect(launch(kind)).toMatchObject({ env: {}, passEnv: ['CODEX_*', 'OPENAI_*'] })
    }
  })
})
