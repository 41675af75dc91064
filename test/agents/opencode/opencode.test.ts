import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Emitted, Start } from '../../../src/agents/agent.ts'
import { opencode } from '../../../src/agents/opencode/agent.ts'
import { codec as run } from '../../../src/agents/opencode/run/codec.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import {
  type Command,
  type LaunchKind,
  MainstemError,
  type Policy,
  type SessionOptions,
} from '../../../src/model/index.ts'
import { decodeFixture, type Fixture, fixtures } from '../fixtures.ts'
import { RunNative, ServeNative } from '../native/opencode.ts'

const runs = fixtures.filter(({ program }) => program === 'opencode')
const serves = fixtures.filter(({ program }) => program === 'opencode-serve')

function recording(name: string): Fixture {
  const found = fixtures.find((fixture) => fixture.name === name)
  if (!found) throw new Error(`no recording ${name}`)
  return found
}

const eventsOf = (name: string) => decodeFixture(recording(name)).entries.map(({ event }) => event)

function endOf(name: string) {
  const end = eventsOf(name).findLast((event) => event.type === 'turn.completed')
  if (!end) throw new Error(`${name} has no end`)
  return end
}

function startOf(launch: LaunchKind, policy: Partial<Policy> = {}, options: SessionOptions = {}): Start {
  return {
    launch,
    cwd: '/project',
    policy: { approval: 'ask', sandbox: 'none', ...policy },
    options,
    epoch: 1,
  }
}

describe('the recordings', () => {
  test('there are as many as were taken', () => {
    expect([runs.length, serves.length]).toEqual([44, 20])
  })

  test.each(runs)('$name has the shape that its schema describes', ({ lines }) => {
    for (const line of lines) if (line.trim() !== '') RunNative.parse(JSON.parse(line))
  })

  test.each(serves)('$name has the shape that its schema describes', ({ lines }) => {
    for (const line of lines) if (line.trim() !== '') ServeNative.parse(JSON.parse(line))
  })

  test.each([
    ['opencode/err401', 'failed', 'authentication_failed'],
    ['opencode/err404', 'failed', 'invalid_request'],
    ['opencode/err429', 'failed', 'rate_limited'],
    ['opencode/bad_model', 'failed', 'unknown'],
    ['opencode/bad_config', 'failed', 'agent_not_ready'],
    ['opencode/bad_flag', 'failed', 'unsupported_option'],
    ['opencode/resume_5_bad', 'failed', 'session_not_found'],
    ['opencode/max_tokens', 'failed', 'output_truncated'],
    ['opencode/safety', 'refused', 'invalid_request'],
    ['opencode/perm_ask_bash', 'denied', 'permission_denied'],
    ['opencode/perm_ask_edit', 'denied', 'permission_denied'],
    ['opencode/external_dir_write', 'denied', 'permission_denied'],
    ['opencode/perm_deny_pattern_auto', 'denied', 'permission_denied'],
    ['opencode/agent_plan_write', 'denied', 'permission_denied'],
    ['opencode/sigterm_tool', 'crashed', 'protocol_error'],
    ['opencode/drop', 'crashed', 'protocol_error'],
    ['opencode-serve/err401', 'failed', 'authentication_failed'],
    ['opencode-serve/drop', 'crashed', 'protocol_error'],
  ])('%s ends as %s with %s', (name, outcome, code) => {
    const end = endOf(name)
    expect([end.outcome, end.error?.code]).toEqual([outcome, code])
  })
})

describe('a one-shot run', () => {
  test('a shell that failed is an error, although its call was completed', () => {
    const ended = eventsOf('opencode/tool_bash_fail').find(({ type }) => type === 'tool.completed')
    expect(ended).toMatchObject({ status: 'error', exitCode: 3, output: 'partial\n' })
  })

  test('a file is created by writing and modified by editing, with its diff', () => {
    const changes = eventsOf('opencode/file_edit').filter((event) => event.type === 'file.changed')
    expect(changes).toMatchObject([
      { path: '/workspace/hello.txt', change: 'created', after: 'alpha\nbeta\n' },
      { path: '/workspace/hello.txt', change: 'modified', diff: expect.stringContaining('+gamma') },
    ])
  })

  test('a denial on stderr is a notice without colours', () => {
    expect(eventsOf('opencode/perm_ask_bash')).toContainEqual({
      type: 'notice.raised',
      level: 'warning',
      code: 'tool_refused',
      message: 'permission requested: bash (echo hello-from-shell, echo to-stderr 1>&2); auto-rejecting',
    })
  })

  test('truncated output is marked, with the location of the rest', () => {
    const ended = eventsOf('opencode/bigout').find(({ type }) => type === 'tool.completed')
    expect(ended).toMatchObject({
      truncated: true,
      data: { outputPath: expect.stringContaining('tool-output') },
    })
  })

  test('a sub-agent has the session it worked in as its id', () => {
    const [child] = eventsOf('opencode/subagent').filter((event) => event.type === 'subagent.started')
    expect(child).toMatchObject({ toolId: 'call_111_0', agentType: 'general', model: 'lab/fake-model' })
    expect(child?.id).toMatch(/^ses_/)
  })

  test('a list of things to do is a plan', () => {
    const plans = eventsOf('opencode/todo').filter((event) => event.type === 'plan.updated')
    expect(plans.at(-1)?.items.map(({ status }) => status)).toEqual(['completed', 'in_progress', 'pending'])
  })

  test('a patch reports every file that it touched', () => {
    const files = [
      { filePath: '/a', type: 'add', patch: '+a' },
      { filePath: '/b', type: 'move', movePath: '/c', patch: '' },
      { filePath: '/d', type: 'delete' },
    ]
    const part = {
      tool: 'apply_patch',
      callID: 'c',
      state: { status: 'completed', input: {}, output: 'ok', metadata: { files } },
    }
    const state = run.initial(startOf('oneshot'))
    const { emitted } = run.decode(state, jsonFrame('stdout', JSON.stringify({ type: 'tool_use', part })))
    expect(emitted.filter(({ type }) => type === 'file.changed')).toEqual([
      { type: 'file.changed', path: '/a', change: 'created', diff: '+a', toolId: 'c' },
      { type: 'file.changed', path: '/c', change: 'renamed', diff: '', from: '/b', toolId: 'c' },
      { type: 'file.changed', path: '/d', change: 'deleted', toolId: 'c' },
    ])
  })

  test('metadata without a field is kept, for any name', () => {
    const metadata = JSON.parse('{"exit":0,"__proto__":{"a":1},"more":2}')
    const part = {
      tool: 'bash',
      callID: 'c',
      state: { status: 'completed', input: {}, output: '', metadata },
    }
    const state = run.initial(startOf('oneshot'))
    const { emitted } = run.decode(state, jsonFrame('stdout', JSON.stringify({ type: 'tool_use', part })))
    const ended = emitted.find(({ type }) => type === 'tool.completed')
    expect(JSON.stringify(ended)).toContain('"data":{"__proto__":{"a":1},"more":2}')
  })

  test('tools of a configured server are known as such', () => {
    const state = run.initial(startOf('oneshot', {}, { mcpServers: { 'my.lab': { command: 'x' } } }))
    const kindOf = (tool: string): unknown => {
      const part = { tool, callID: tool, state: { status: 'completed', input: {}, output: '', metadata: {} } }
      const { emitted } = run.decode(state, jsonFrame('stdout', JSON.stringify({ type: 'tool_use', part })))
      return emitted.find((one: Emitted) => one.type === 'tool.started')?.kind
    }
    expect(['my_lab_echo', 'your_lab_echo', 'bash', 'constructor'].map(kindOf)).toEqual([
      'mcp',
      'other',
      'execute',
      'other',
    ])
  })

  test('the prompt goes in by stdin, which is then closed: an open one hangs it', () => {
    const step = run.encode(run.initial(startOf('oneshot')), { type: 'prompt', text: '--auto' })
    expect(step.writes).toEqual([{ kind: 'text', text: '--auto' }, { kind: 'end' }])
  })

  test.each<Command>([
    { type: 'steer', text: 'x' },
    { type: 'answer', requestId: 'r', decision: 'allow' },
    { type: 'set_model', model: 'm' },
    { type: 'set_policy', mode: 'plan' },
    { type: 'prompt', text: 'x', images: [{ mimeType: 'image/png', data: 'AA==' }] },
  ])('$type is refused', (command) => {
    expect(run.encode(run.initial(startOf('oneshot')), command).refused?.code).toBe('unsupported_option')
  })
})

describe('the launch', () => {
  const launchOf = (kind: LaunchKind, policy: Partial<Policy> = {}, options: SessionOptions = {}) => {
    const launch = opencode.launches[kind]?.launch(startOf(kind, policy, options))
    if (!launch || !('argv' in launch)) throw new Error('opencode is a program')
    return launch
  }
  const rulesOf = (kind: LaunchKind, policy: Partial<Policy> = {}, options: SessionOptions = {}) =>
    JSON.parse(launchOf(kind, policy, options).env.OPENCODE_PERMISSION ?? '')
  const refusal = (launch: () => unknown): unknown => {
    try {
      return launch()
    } catch (thrown) {
      return thrown instanceof MainstemError ? thrown.code : thrown
    }
  }

  test.each<[Policy['approval'], Policy['sandbox'], LaunchKind, object, string]>([
    ['ask', 'none', 'live', { '*': 'ask', question: 'allow' }, 'edit'],
    ['ask', 'none', 'oneshot', { '*': 'ask', question: 'deny' }, 'edit'],
    ['ask', 'full-access', 'live', { '*': 'ask' }, 'edit'],
    ['ask-dangerous', 'none', 'live', { '*': 'ask', edit: 'allow' }, 'bash'],
    ['auto-edit', 'none', 'live', { '*': 'ask', edit: 'allow' }, 'bash'],
    ['auto-edit', 'none', 'oneshot', { '*': 'ask', edit: 'allow', bash: 'deny' }, 'webfetch'],
    ['ask', 'read-only', 'live', { '*': 'deny', webfetch: 'ask', glob: 'allow' }, 'edit'],
    ['ask-dangerous', 'read-only', 'oneshot', { '*': 'deny', webfetch: 'ask' }, 'bash'],
    ['auto-all', 'read-only', 'live', { '*': 'deny' }, 'edit'],
  ])('%s with %s, %s: the rules', (approval, sandbox, kind, rules, left) => {
    const made = rulesOf(kind, { approval, sandbox })
    expect(made).toMatchObject(rules)
    expect(Object.keys(made)[0]).toBe('*')
    expect(made).not.toHaveProperty(left)
  })

  test('a budget denies sub-agents to a one-shot run, which does not report their cost', () => {
    const budget: Partial<Policy> = { maxBudgetUsd: 1, tools: { available: ['task'] } }
    expect([rulesOf('oneshot', budget).task, rulesOf('live', budget).task]).toEqual(['deny', 'allow'])
  })

  test('a policy that allows everything needs no rules; a run approves by itself', () => {
    expect(rulesOf('live', { approval: 'auto-all' })).toEqual({})
    expect(launchOf('live', { approval: 'auto-all' }).argv).not.toContain('--auto')
    expect(launchOf('oneshot', { approval: 'auto-all', sandbox: 'full-access' }).argv).toContain('--auto')
    expect(launchOf('oneshot', { approval: 'auto-all', sandbox: 'read-only' }).argv).not.toContain('--auto')
  })

  test.each([
    ['1.17.0', '--dangerously-skip-permissions'],
    ['1.17.11', '--dangerously-skip-permissions'],
    ['1.17.18', '--auto'],
    ['1.18.33', '--auto'],
  ])('version %s allows everything with %s', (version, flag) => {
    const start = { ...startOf('oneshot', { approval: 'auto-all' }), version }
    const launch = opencode.launches.oneshot?.launch(start)
    const argv = launch && 'argv' in launch ? launch.argv : []
    expect(argv.filter((one) => one === '--auto' || one.startsWith('--danger'))).toEqual([flag])
  })

  test('only the tools that may exist are not denied', () => {
    const tools = { available: ['read', 'bash'], preapproved: ['bash', 'webfetch'] }
    expect(rulesOf('live', { tools })).toEqual({
      '*': 'deny',
      read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' },
      bash: 'allow',
    })
    expect(rulesOf('live', { approval: 'auto-all', tools: { available: ['bash'] } })).toEqual({
      '*': 'deny',
      bash: 'allow',
    })
  })

  test('denials come last, after every other rule', () => {
    const tools = { preapproved: ['bash', 'edit', 'write'], denied: ['bash', 'write', '*'] }
    const rules = Object.entries(rulesOf('live', { approval: 'auto-all', tools }))
    expect(rules).toEqual([
      ['bash', 'deny'],
      ['edit', 'deny'],
      ['*', 'deny'],
    ])
  })

  test('directories outside are open by name and no wider', () => {
    const options = { extraDirectories: ['/more/'] }
    expect(rulesOf('live', {}, options).external_directory).toEqual({ '*': 'ask', '/more/*': 'allow' })
    expect(rulesOf('live', { sandbox: 'read-only' }, options).external_directory).toEqual({
      '*': 'deny',
      '/more/*': 'allow',
    })
  })

  test.each<[string, LaunchKind, Partial<Policy>, SessionOptions]>([
    ['sandbox workspace-write', 'live', { sandbox: 'workspace-write' }, {}],
    ['auto-edit with read-only', 'live', { approval: 'auto-edit', sandbox: 'read-only' }, {}],
    ['network', 'live', { network: false }, {}],
    ['writableRoots', 'live', { writableRoots: ['/x'] }, {}],
    ['half of the file tools', 'live', { tools: { available: ['write'] } }, {}],
    ['half of the file tools, approved', 'live', { tools: { preapproved: ['write'] } }, {}],
    ['a rule of another agent', 'live', { tools: { denied: ['Bash(rm *)'] } }, {}],
    ['a directory that is a pattern', 'live', {}, { extraDirectories: ['/home/*'] }],
    ['isolation bare', 'live', {}, { isolation: 'bare' }],
    ['outputSchema in a run', 'oneshot', {}, { outputSchema: {} }],
    ['checkpointing', 'live', {}, { checkpointing: false }],
    ['a trusted server', 'live', {}, { mcpServers: { lab: { command: 'x', trust: true } } }],
    ['systemPrompt.append in a run', 'oneshot', {}, { systemPrompt: { append: 'x' } }],
  ])('%s is refused before anything starts', (_name, kind, policy, options) => {
    expect(refusal(() => launchOf(kind, policy, options))).toBe('unsupported_option')
  })

  test('a model without its provider is refused', () => {
    expect(refusal(() => launchOf('oneshot', {}, { model: 'gpt' }))).toBe('invalid_request')
  })

  test('values stay inside their flags', () => {
    const start = startOf('oneshot', {}, { model: 'lab/fake-model', effort: 'high', isolation: 'no-project' })
    const launch = opencode.launches.oneshot?.launch({ ...start, resume: 'ses_1' })
    expect(launch).toMatchObject({
      argv: [
        'opencode',
        'run',
        '--format=json',
        '--thinking',
        '--model=lab/fake-model',
        '--variant=high',
        '--session=ses_1',
      ],
      env: { OPENCODE_DISABLE_PROJECT_CONFIG: 'true' },
    })
    const help = readFileSync(join(recording('opencode/bad_flag').folder, 'stderr.txt'), 'utf8')
    for (const flag of ['--format', '--thinking', '--model', '--variant', '--session', '--auto'])
      expect(help).toContain(` ${flag} `)
  })

  test('the server listens on loopback only, on its own port', () => {
    expect(launchOf('live').argv).toEqual(['opencode', 'serve', '--hostname=127.0.0.1', '--port=0'])
    expect(opencode.launches.live?.stream).toBe('sse')
    expect(launchOf('live')).toMatchObject({
      kind: 'server',
      events: '/event',
      login: { user: 'opencode', passwordVariables: ['OPENCODE_SERVER_PASSWORD'] },
    })
  })

  test('servers and the system prompt are handed over inline', () => {
    const { env } = launchOf(
      'live',
      {},
      {
        systemPrompt: { replace: 'Be brief.' },
        mcpServers: {
          here: { command: 'node', args: ['mcp.mjs'], env: { A: '1' } },
          there: { url: 'https://example.org/mcp', headers: { B: '2' } },
        },
      },
    )
    expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '')).toEqual({
      mcp: {
        here: { type: 'local', command: ['node', 'mcp.mjs'], enabled: true, environment: { A: '1' } },
        there: { type: 'remote', url: 'https://example.org/mcp', enabled: true, headers: { B: '2' } },
      },
      agent: { build: { prompt: 'Be brief.' } },
    })
  })
})
