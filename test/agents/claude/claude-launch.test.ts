import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ProcessLaunch, Start } from '../../../src/agents/agent.ts'
import { claude } from '../../../src/agents/claude/agent.ts'
import { filePath } from '../../../src/agents/kit/option.ts'
import {
  Approval,
  type LaunchKind,
  MainstemError,
  Policy,
  Sandbox,
  SessionOptions,
} from '../../../src/model/index.ts'

interface Wish {
  approval?: Approval
  sandbox?: Sandbox
  policy?: Partial<Policy>
  options?: SessionOptions
  resume?: string
  fork?: boolean
  version?: string
}

function launch(kind: LaunchKind, wish: Wish): ProcessLaunch {
  const { approval = 'ask', sandbox = 'none', policy, options = {}, resume, fork, version } = wish
  const start: Start = {
    launch: kind,
    cwd: '/project',
    policy: { approval, sandbox, ...policy },
    options,
    epoch: 1,
    ...(resume !== undefined && { resume }),
    ...(fork && { fork }),
    ...(version !== undefined && { version }),
  }
  const launched = claude.launches[kind]?.launch(start)
  if (launched?.kind !== 'process') throw new Error('not a process')
  return launched
}

const COMMON = [
  'claude',
  '--print',
  '--output-format=stream-json',
  '--verbose',
  '--include-partial-messages',
  '--include-hook-events',
]
const BASE: Record<LaunchKind, string[]> = {
  live: [...COMMON, '--input-format=stream-json', '--permission-prompt-tool=stdio'],
  oneshot: COMMON,
}
const KINDS = ['live', 'oneshot'] as const

/** What was asked for beyond what every launch has. */
function added(kind: LaunchKind, wish: Wish): string[] {
  const { argv } = launch(kind, wish)
  expect(argv.slice(0, BASE[kind].length)).toEqual(BASE[kind])
  return argv.slice(BASE[kind].length)
}

/** Where the driver would put the file. */
const placed = (argument: string) => argument.replace(filePath('mcp.json'), '/tmp/mcp.json')

function refusal(kind: LaunchKind, wish: Wish): unknown {
  try {
    return launch(kind, wish).argv.map(placed)
  } catch (thrown) {
    return thrown
  }
}

const refused = expect.objectContaining({ name: 'MainstemError', code: 'unsupported_option' })

const PLAN = '--permission-mode=plan'
const DEFAULT = '--permission-mode=default'
const EDITS = '--permission-mode=acceptEdits'
const BYPASS = '--dangerously-skip-permissions'

/** Every cell of approval × sandbox; nothing is a refusal. */
const CELLS: Record<Approval, Record<Sandbox, string | undefined>> = {
  ask: { none: DEFAULT, 'read-only': PLAN, 'workspace-write': undefined, 'full-access': DEFAULT },
  'ask-dangerous': { none: DEFAULT, 'read-only': PLAN, 'workspace-write': undefined, 'full-access': DEFAULT },
  'auto-edit': { none: EDITS, 'read-only': undefined, 'workspace-write': undefined, 'full-access': EDITS },
  'auto-all': { none: BYPASS, 'read-only': PLAN, 'workspace-write': undefined, 'full-access': BYPASS },
}

describe.each(KINDS)('the %s launch', (kind) => {
  const cells = Approval.options.flatMap((approval) =>
    Sandbox.options.map((sandbox) => [approval, sandbox, CELLS[approval][sandbox]] as const),
  )

  test.each(cells)('%s × %s: %s', (approval, sandbox, flag) => {
    if (flag === undefined) expect(refusal(kind, { approval, sandbox })).toEqual(refused)
    else expect(added(kind, { approval, sandbox })).toEqual([flag])
  })

  test('the system prompt of a resumed conversation is sent, not the one it began with', () => {
    const OFF = '--system-prompt-snapshot=off'
    const given = { options: { systemPrompt: { append: 'x' } } }
    const argvOf = (wish: Wish) => launch(kind, wish).argv
    expect(argvOf({ ...given, resume: 'native-1' })).toContain(OFF)
    expect(argvOf({ ...given, resume: 'native-1', version: '2.1.326' })).toContain(OFF)
    expect(argvOf({ ...given, resume: 'native-1', version: '2.1.197' })).not.toContain(OFF)
    expect(argvOf(given)).not.toContain(OFF)
    expect(argvOf({ resume: 'native-1' })).not.toContain(OFF)
  })

  test('only a launch with full access declares the machine a sandbox', () => {
    expect(launch(kind, { approval: 'auto-all' }).env).toMatchObject({ IS_SANDBOX: '1' })
    expect(launch(kind, { approval: 'auto-edit' }).env).not.toHaveProperty('IS_SANDBOX')
  })

  test('only its own variables pass, never the mark of an enclosing session', () => {
    const { passEnv } = launch(kind, {})
    const passes = (name: string) =>
      passEnv.some((rule) => (rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : rule === name))
    expect(['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'].every(passes)).toBe(true)
    expect(
      ['CLAUDECODE', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'TMUX', 'AWS_SECRET_ACCESS_KEY'].some(passes),
    ).toBe(false)
  })

  test.each<[string, Wish, string[]]>([
    ['model', { options: { model: 'opus[1m]' } }, ['--model=opus[1m]']],
    ['effort', { options: { effort: 'high' } }, ['--effort=high']],
    ['more system prompt', { options: { systemPrompt: { append: '-x' } } }, ['--append-system-prompt=-x']],
    ['another system prompt', { options: { systemPrompt: { replace: 'a\nb' } } }, ['--system-prompt=a\nb']],
    ['directories', { options: { extraDirectories: ['/a', '/b'] } }, ['--add-dir=/a', '--add-dir=/b']],
    ['the settings of the user', { options: { isolation: 'user' } }, []],
    ['no project settings', { options: { isolation: 'no-project' } }, ['--setting-sources=user']],
    ['no settings', { options: { isolation: 'bare' } }, ['--setting-sources=', '--strict-mcp-config']],
    ['a schema', { options: { outputSchema: { type: 'object' } } }, ['--json-schema={"type":"object"}']],
    [
      'a schema that names its draft',
      {
        options: {
          outputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        },
      },
      ['--json-schema={"type":"object"}'],
    ],
    [
      'only some tools',
      { policy: { tools: { available: ['Read', 'Grep'] } } },
      ['--tools=Read,Grep', '--strict-mcp-config'],
    ],
    ['no tools', { policy: { tools: { available: [] } } }, ['--tools=', '--strict-mcp-config']],
    [
      'tools that need no asking',
      { policy: { tools: { preapproved: ['Bash(git log:*)'] } } },
      ['--allowedTools=Bash(git log:*)'],
    ],
    ['tools that never run', { policy: { tools: { denied: ['Bash'] } } }, ['--disallowedTools=Bash']],
    ['a limit of steps', { policy: { maxSteps: 3 } }, ['--max-turns=3']],
    ['a limit of money', { policy: { maxBudgetUsd: 0.5 } }, ['--max-budget-usd=0.5']],
    ['a fallback model', { options: { fallbackModel: 'small' } }, ['--fallback-model=small']],
    [
      'sub-agents',
      { options: { subagents: { critic: { description: 'after changes', prompt: 'Find faults.' } } } },
      ['--agents={"critic":{"description":"after changes","prompt":"Find faults."}}'],
    ],
    ['skills', { options: { skills: ['/s/one', '/s/two'] } }, ['--plugin-dir=/s/one', '--plugin-dir=/s/two']],
    ['a session to go on with', { resume: '1111-2222' }, ['--resume=1111-2222']],
    ['a session to copy', { resume: '1111-2222', fork: true }, ['--resume=1111-2222', '--fork-session']],
  ])('%s', (_, wish, args) => {
    expect(added(kind, wish)).toEqual([DEFAULT, ...args])
  })

  test('MCP servers go into a file, because their keys are in it', () => {
    const mcpServers = {
      a: { command: 'x', args: ['-y'], env: { KEY: 'secret' } },
      b: { url: 'http://localhost', headers: { Authorization: 'secret' } },
    }
    const wish: Wish = { options: { mcpServers } }
    expect(added(kind, wish)).toEqual([DEFAULT, `--mcp-config=${filePath('mcp.json')}`])
    const [file, ...others] = launch(kind, wish).files ?? []
    expect(others).toEqual([])
    expect(file?.name).toBe('mcp.json')
    expect(JSON.parse(file?.text ?? '')).toEqual({
      mcpServers: { a: mcpServers.a, b: { type: 'http', ...mcpServers.b } },
    })
  })

  test.each<[string, Wish]>([
    ['network', { policy: { network: true } }],
    ['no network', { policy: { network: false } }],
    ['writable roots', { policy: { writableRoots: ['/a'] } }],
    ['trust in a server', { options: { mcpServers: { a: { command: 'x', trust: true } } } }],
    ['some tools of a server', { options: { mcpServers: { a: { command: 'x', includeTools: ['y'] } } } }],
    [
      'all but some tools of a server',
      { options: { mcpServers: { a: { command: 'x', excludeTools: ['y'] } } } },
    ],
    [
      'a system prompt too long for an argument',
      { options: { systemPrompt: { append: 'x'.repeat(300_000) } } },
    ],
  ])('refuses %s before anything starts', (_, wish) => {
    expect(refusal(kind, wish)).toEqual(refused)
  })
})

test('a live process saves files before it changes them, unless the session does not want it', () => {
  const SAVES = 'CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING'
  expect(launch('live', {}).env).toHaveProperty(SAVES, '1')
  expect(launch('live', { options: { checkpointing: false } }).env).not.toHaveProperty(SAVES)
  expect(launch('oneshot', {}).env).not.toHaveProperty(SAVES)
  expect(refusal('oneshot', { options: { checkpointing: true } })).toEqual(refused)
})

/** Every place where a caller's own string goes. */
const PLACES: Record<string, (text: string) => Wish> = {
  model: (model) => ({ options: { model } }),
  effort: (effort) => ({ options: { effort } }),
  'fallback model': (fallbackModel) => ({ options: { fallbackModel } }),
  skill: (directory) => ({ options: { skills: [directory] } }),
  'sub-agent': (text) => ({ options: { subagents: { [text]: { description: text, prompt: text } } } }),
  append: (append) => ({ options: { systemPrompt: { append } } }),
  replace: (replace) => ({ options: { systemPrompt: { replace } } }),
  directory: (directory) => ({ options: { extraDirectories: [directory] } }),
  'server name': (name) => ({ options: { mcpServers: { [name]: { command: 'x' } } } }),
  'server command': (command) => ({ options: { mcpServers: { a: { command } } } }),
  'server argument': (argument) => ({ options: { mcpServers: { a: { command: 'x', args: [argument] } } } }),
  'server address': (url) => ({ options: { mcpServers: { a: { url } } } }),
  'server header': (value) => ({ options: { mcpServers: { a: { url: 'x', headers: { h: value } } } } }),
  'server variable': (value) => ({ options: { mcpServers: { a: { command: 'x', env: { V: value } } } } }),
  schema: (text) => ({ options: { outputSchema: { [text]: text } } }),
  'available tool': (name) => ({ policy: { tools: { available: [name] } } }),
  'preapproved tool': (name) => ({ policy: { tools: { preapproved: [name] } } }),
  'denied tool': (name) => ({ policy: { tools: { denied: [name] } } }),
  resume: (resume) => ({ resume }),
}

const nasty = fc.oneof(
  fc.constantFrom(
    '-x',
    '--x=y',
    '--dangerously-skip-permissions',
    '\n',
    'a\n--x',
    '\0',
    'a\0b',
    '..',
    '../..',
    '',
  ),
  fc.constantFrom('x'.repeat(300_000), '漢'.repeat(60_000)),
  fc.string({ unit: 'binary' }),
)
const anyPlace = fc.constantFrom(...Object.keys(PLACES))

/** One argument in a form of our own choosing, at most as long as the system takes. */
const ARGUMENT = /^--[a-z][A-Za-z-]*(=[^\0]*)?$/s

function expectHarmless(kind: LaunchKind, place: string, text: string): void {
  const wish = PLACES[place]?.(text) ?? {}
  const outcome = refusal(kind, wish)
  if (!Array.isArray(outcome)) {
    expect(outcome).toBeInstanceOf(MainstemError)
    return
  }
  const harmless = launch(kind, PLACES[place]?.('plain') ?? {}).argv.map(placed)
  expect(outcome).toHaveLength(harmless.length)
  const flags = (argv: readonly string[]) => argv.map((argument) => argument.split('=')[0])
  expect(flags(outcome)).toEqual(flags(harmless))
  for (const argument of outcome.slice(1)) {
    expect(argument).toMatch(ARGUMENT)
    expect(Buffer.byteLength(argument)).toBeLessThan(128 * 1024)
  }
}

test('no string of a caller becomes a separate argument', () => {
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), anyPlace, nasty, (kind, place, text) => {
      expectHarmless(kind, place, text)
    }),
    { numRuns: 1000 },
  )
})

test('every valid option can be launched or is rejected with a reason', () => {
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), anyPlace, nasty, (kind, place, text) => {
      const { options, policy } = PLACES[place]?.(text) ?? {}
      const valid =
        SessionOptions.safeParse(options ?? {}).success &&
        Policy.safeParse({ approval: 'ask', sandbox: 'none', ...policy }).success
      fc.pre(valid)
      expectHarmless(kind, place, text)
    }),
  )
})

test.each(['-x', '--x=y', 'a\nb', 'a\0b', '..', '../x', ' x', ''])('%j is not a session id', (resume) => {
  expect(refusal('live', { resume })).toEqual(expect.objectContaining({ code: 'invalid_request' }))
})
