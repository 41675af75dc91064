import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Start } from '../../../src/agents/agent.ts'
import { gemini } from '../../../src/agents/gemini/agent.ts'
import { filePath } from '../../../src/agents/kit/option.ts'
import { MainstemError, type Policy, type SessionOptions } from '../../../src/model/index.ts'
import { fixtures } from '../fixtures.ts'

function startOf(policy: Partial<Policy> = {}, options: SessionOptions = {}): Start {
  return {
    launch: 'oneshot',
    cwd: '/project',
    policy: { approval: 'ask', sandbox: 'none', ...policy },
    options,
    epoch: 3,
  }
}

describe('the launch', () => {
  const launchOf = (policy: Partial<Policy> = {}, options: SessionOptions = {}, resume?: string) => {
    const launch = gemini.launches.oneshot?.launch({
      ...startOf(policy, options),
      ...(resume !== undefined && { resume }),
    })
    if (launch?.kind !== 'process') throw new Error('gemini is a process')
    return launch
  }
  const refusal = (launch: () => unknown): unknown => {
    try {
      return launch()
    } catch (thrown) {
      return thrown instanceof MainstemError ? thrown.code : thrown
    }
  }

  test.each<[Policy['approval'], Policy['sandbox'], string]>([
    ['ask', 'none', 'default'],
    ['ask', 'full-access', 'default'],
    ['ask-dangerous', 'none', 'default'],
    ['auto-edit', 'none', 'auto_edit'],
    ['auto-edit', 'full-access', 'auto_edit'],
    ['auto-all', 'none', 'yolo'],
    ['auto-all', 'full-access', 'yolo'],
    ['ask', 'read-only', 'plan'],
    ['ask-dangerous', 'read-only', 'plan'],
    ['auto-all', 'read-only', 'plan'],
  ])('%s with %s is the mode %s', (approval, sandbox, mode) => {
    expect(launchOf({ approval, sandbox }).argv).toEqual([
      'gemini',
      '--output-format=stream-json',
      `--approval-mode=${mode}`,
    ])
  })

  test.each<[string, Partial<Policy>, SessionOptions]>([
    ['sandbox workspace-write', { sandbox: 'workspace-write' }, {}],
    ['auto-edit with read-only', { approval: 'auto-edit', sandbox: 'read-only' }, {}],
    ['network', { network: false }, {}],
    ['writableRoots', { writableRoots: ['/x'] }, {}],
    ['a rule as a tool', { tools: { available: ['run_shell_command(ls)'] } }, {}],
    ['maxBudgetUsd', { maxBudgetUsd: 1 }, {}],
    ['effort', {}, { effort: 'high' }],
    ['systemPrompt', {}, { systemPrompt: { append: 'x' } }],
    ['mcpServers', {}, { mcpServers: { lab: { command: 'x' } } }],
    ['isolation', {}, { isolation: 'no-project' }],
    ['outputSchema', {}, { outputSchema: {} }],
    ['checkpointing', {}, { checkpointing: true }],
    ['a directory with a comma', {}, { extraDirectories: ['/a,/etc'] }],
  ])('%s is refused before anything starts', (_name, policy, options) => {
    expect(refusal(() => launchOf(policy, options))).toBe('unsupported_option')
  })

  test('values stay inside their flags', () => {
    const { argv, env, passEnv } = launchOf(
      { tools: { preapproved: ['run_shell_command(echo)'] } },
      { model: 'gemini-2.5-flash', extraDirectories: ['/more'] },
      'cd749170-61f9-419a-9414-7f36bf382a5f',
    )
    expect(argv.slice(3)).toEqual([
      '--allowed-tools=run_shell_command(echo)',
      '--model=gemini-2.5-flash',
      '--include-directories=/more',
      '--resume=cd749170-61f9-419a-9414-7f36bf382a5f',
    ])
    expect(Object.keys(env)).toEqual(['GEMINI_CLI_NO_RELAUNCH', 'NODE_OPTIONS'])
    expect(passEnv).not.toContain('*')
  })

  test('another system prompt is passed as a file', () => {
    const { env, files } = launchOf({}, { systemPrompt: { replace: 'Be brief.' } })
    expect(env).toMatchObject({ GEMINI_SYSTEM_MD: filePath('system.md') })
    expect(files).toEqual([{ name: 'system.md', text: 'Be brief.' }])
    expect(refusal(() => launchOf({}, { systemPrompt: { append: 'And brief.' } }))).toBe('unsupported_option')
  })

  test('every flag is one that the program lists', () => {
    const folder = fixtures.find(({ name }) => name.endsWith('gemini/bad_approval'))?.folder ?? ''
    const help = readFileSync(join(folder, 'stderr.txt'), 'utf8')
    const { argv } = launchOf(
      { tools: { preapproved: ['glob'] } },
      { model: 'm', extraDirectories: ['/more'] },
      'id',
    )
    for (const flag of argv.slice(1)) expect(help).toContain(` ${flag.split('=')[0]} `)
  })
})
