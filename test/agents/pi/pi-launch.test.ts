import { describe, expect, test } from 'vitest'
import type { ProcessLaunch } from '../../../src/agents/agent.ts'
import { filePath } from '../../../src/agents/kit/option.ts'
import { pi } from '../../../src/agents/pi/agent.ts'
import { GATE } from '../../../src/agents/pi/gate.ts'
import { type LaunchKind, MainstemError, type Policy, type SessionOptions } from '../../../src/model/index.ts'

interface Wish {
  launch?: LaunchKind
  policy?: Partial<Policy>
  options?: SessionOptions
  resume?: string
}

function launchOf({ launch = 'live', policy = {}, options = {}, resume }: Wish): ProcessLaunch {
  const made = pi.launches[launch]?.launch({
    launch,
    cwd: '/project',
    policy: { approval: 'auto-all', sandbox: 'none', ...policy },
    options,
    epoch: 1,
    ...(resume !== undefined && { resume }),
  })
  if (made?.kind !== 'process') throw new Error('pi is a process')
  return made
}

/** The words after the mode. */
const argsOf = (wish: Wish) => launchOf(wish).argv.slice(3)

function refusalOf(wish: Wish): string {
  try {
    launchOf(wish)
  } catch (thrown) {
    if (thrown instanceof MainstemError) return `${thrown.code}: ${thrown.message}`
    throw thrown
  }
  return 'taken'
}

test('live uses rpc and oneshot prints json, with no other arguments than requested', () => {
  expect(launchOf({}).argv).toEqual(['pi', '--mode', 'rpc'])
  expect(launchOf({ launch: 'oneshot' }).argv).toEqual(['pi', '--mode', 'json'])
  expect(launchOf({ policy: { sandbox: 'full-access' } }).argv).toEqual(['pi', '--mode', 'rpc'])
})

test('only its own settings and the keys of providers reach it', () => {
  const { passEnv } = launchOf({})
  expect(passEnv).toContain('ANTHROPIC_API_KEY')
  expect(passEnv.filter((name) => name.endsWith('*'))).toEqual([
    'PI_*',
    'AZURE_OPENAI_*',
    'CLOUDFLARE_*',
    'XIAOMI_*',
    'GOOGLE_CLOUD_*',
  ])
})

const LOOKING = ['--tools', 'read,grep,find,ls', '--no-mcp', '--no-extensions']
const GATED = ['--extension', filePath('gate.mjs')]

describe('a live run', () => {
  test.each(['ask', 'ask-dangerous', 'auto-edit'] as const)(
    'with %s has a gate that every call passes',
    (approval) => {
      for (const sandbox of ['none', 'full-access'] as const) {
        expect(argsOf({ policy: { approval, sandbox } })).toEqual(GATED)
        expect(launchOf({ policy: { approval, sandbox } }).files).toEqual([GATE])
      }
    },
  )

  test('with full access is not gated', () => {
    expect(launchOf({}).files).toEqual([])
  })

  test('that is read-only has only tools that look, and a gate unless all of them may run', () => {
    const sandbox = 'read-only'
    expect(argsOf({ policy: { approval: 'ask', sandbox } })).toEqual([...GATED, ...LOOKING])
    expect(argsOf({ policy: { approval: 'auto-all', sandbox } })).toEqual(LOOKING)
  })
})

describe('a one-shot run, which cannot request approval', () => {
  const launch = 'oneshot'

  test.each(['ask', 'ask-dangerous'] as const)('has with %s only tools that look', (approval) => {
    expect(argsOf({ launch, policy: { approval } })).toEqual(LOOKING)
    expect(refusalOf({ launch, policy: { approval, tools: { available: ['bash'] } } })).toMatch(
      /bash may change/,
    )
  })

  test('cannot edit in the workspace alone', () => {
    expect(refusalOf({ launch, policy: { approval: 'auto-edit' } })).toMatch(
      /^unsupported_option: approval auto-edit/,
    )
  })
})

test('read-only contradicts edits, and tools that change something', () => {
  const sandbox = 'read-only'
  expect(refusalOf({ policy: { approval: 'auto-edit', sandbox } })).toMatch(/contradict/)
  expect(refusalOf({ policy: { sandbox, tools: { available: ['read', 'bash'] } } })).toMatch(
    /bash may change/,
  )
  expect(argsOf({ policy: { sandbox, tools: { available: ['read'] } } })).toContain('read')
})

describe('a list of tools', () => {
  test('leaves out what it does not name, MCP servers among it', () => {
    expect(argsOf({ policy: { tools: { available: ['read', 'bash'] } } })).toEqual([
      ...['--tools', 'read,bash', '--no-mcp'],
    ])
    expect(argsOf({ policy: { tools: { available: ['read', 'mcp__docs__*'] } } })).toEqual([
      ...['--tools', 'read,mcp__docs__*'],
    ])
  })

  test('that is empty leaves none', () => {
    expect(argsOf({ policy: { tools: { available: [] } } })).toEqual(['--no-tools', '--no-mcp'])
  })

  test('never adds to the default ones', () => {
    expect(refusalOf({ policy: { tools: { available: ['+codemode'] } } })).toMatch(/it has no tool/)
    expect(refusalOf({ policy: { tools: { available: [' +codemode'] } } })).toMatch(/it has no tool/)
  })

  test('that is denied is excluded after all else, and what is preapproved runs anyway', () => {
    expect(argsOf({ policy: { tools: { denied: ['bash', 'write'] } } })).toEqual([
      '--exclude-tools',
      'bash,write',
    ])
    expect(argsOf({ policy: { tools: { preapproved: ['bash'] } } })).toEqual([])
  })
})

test.each<[string, Wish]>([
  ['sandbox workspace-write', { policy: { sandbox: 'workspace-write' } }],
  ['network', { policy: { network: false } }],
  ['writableRoots', { policy: { writableRoots: ['/x'] } }],
  ['effort', { options: { effort: 'enormous' } }],
  ['extraDirectories', { options: { extraDirectories: ['/x'] } }],
  ['mcpServers', { options: { mcpServers: { x: { command: 'x' } } } }],
  ['isolation bare', { options: { isolation: 'bare' } }],
  ['outputSchema', { options: { outputSchema: {} } }],
  ['checkpointing', { options: { checkpointing: true } }],
  ['images', { launch: 'oneshot', options: { images: [] } }],
])('%s is refused by name', (option, wish) => {
  expect(refusalOf(wish)).toMatch(new RegExp(`^unsupported_option: ${option} is not supported by pi: `))
})

test('model, effort and session are separate arguments', () => {
  expect(
    argsOf({ options: { model: 'anthropic/claude-sonnet-4-5', effort: 'high' }, resume: 'a-b-c' }),
  ).toEqual([...['--model', 'anthropic/claude-sonnet-4-5', '--thinking', 'high', '--session', 'a-b-c']])
  expect(refusalOf({ resume: '../other.jsonl' })).toMatch(/^invalid_request/)
})

test('a system prompt is a file, so that it is never parsed as a path or a flag', () => {
  const { argv, files } = launchOf({
    options: { systemPrompt: { replace: '/etc/hostname', append: '--help' } },
  })
  expect(argv.slice(3)).toEqual([
    ...['--system-prompt', filePath('system.md'), '--append-system-prompt', filePath('append.md')],
  ])
  expect(files).toEqual([
    { name: 'system.md', text: '/etc/hostname' },
    { name: 'append.md', text: '--help' },
  ])
})

test('without the project, its settings and its instructions stay out', () => {
  expect(argsOf({ options: { isolation: 'no-project' } })).toEqual(['--no-approve', '--no-context-files'])
  expect(argsOf({ options: { isolation: 'user' } })).toEqual([])
})
