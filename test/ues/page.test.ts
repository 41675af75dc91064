import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { acpAgents } from '../../src/agents/acp/agent.ts'
import type { Agent } from '../../src/agents/agent.ts'
import { claude } from '../../src/agents/claude/agent.ts'
import { codex } from '../../src/agents/codex/agent.ts'
import { gemini } from '../../src/agents/gemini/agent.ts'
import { opencode } from '../../src/agents/opencode/agent.ts'
import { MainstemError } from '../../src/model/index.ts'
import * as ues from '../../src/ues/index.ts'
import { launched } from './launched.ts'

const page = readFileSync('docs/compatibility/ues.md', 'utf8')

/** The rows of the table that begins with these words. */
function rows(start: string): string[][] {
  const table = page.slice(page.indexOf(start)).split('\n\n')[0] ?? ''
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
}

const codeIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

test('the page names every adapter with its id', () => {
  const listed = rows('| adapter |').map(([adapter = '', id = '']) => [codeIn(adapter)[0], codeIn(id)[0]])
  const made = [ues.claudeCode(), ues.codex(), ues.gemini(), ues.opencode(), ues.acp('goose'), ues.acp(['x'])]
  expect(listed.map(([, id]) => id)).toEqual([...made, ues.echo()].map(({ id }) => id))
  for (const [code = ''] of listed) expect(Object.keys(ues)).toContain(code.split('(')[0])
})

const SAMPLES: Readonly<Record<string, ues.AgentOptions>> = {
  maxTurns: { maxTurns: 3 },
  maxBudgetUsd: { maxBudgetUsd: 1 },
  allowedTools: { allowedTools: ['bash'] },
  disallowedTools: { disallowedTools: ['bash'] },
  images: { images: [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }] },
  effort: { effort: 'high' },
  outputSchema: { outputSchema: { type: 'object' } },
  mcpServers: { mcpServers: { docs: { url: 'http://127.0.0.1/mcp' } } },
}

const OTHERS: ues.AgentOptions = {
  cwd: '/',
  model: 'provider/model',
  permissionTier: 'supervised',
  permissionMode: 'ask',
  resume: 'abc',
  abortSignal: AbortSignal.abort(),
  canUseTool: async () => ({ allow: true }),
}

function takes(agent: Agent, options: ues.AgentOptions): boolean {
  try {
    const { recipe } = launched(agent, options)
    return options.images === undefined || recipe.capabilities.images
  } catch (thrown) {
    if (thrown instanceof MainstemError && thrown.code === 'unsupported_option') return false
    throw thrown
  }
}

describe('the page says which agent has which option', () => {
  const table = rows('| option | Claude Code |')
  const columns: readonly (readonly Agent[])[] = [[claude], [codex], [gemini], [opencode], acpAgents]
  const cells = table.flatMap(([options = '', ...answers]) =>
    columns.flatMap((agents, column) =>
      agents.map((agent) => [agent.id, options, agent, answers[column] ?? ''] as const),
    ),
  )

  test('for every option', () => {
    const named = table.flatMap(([options = '']) => codeIn(options))
    expect(named).toEqual(Object.keys(SAMPLES))
    const all = [...rows('| option | meaning |'), ...rows('| added option | meaning |')].flatMap(
      ([options = '']) => codeIn(options),
    )
    expect(all.sort()).toEqual([...Object.keys(SAMPLES), ...Object.keys(OTHERS)].sort())
  })

  test.each(cells)('%s: %s', (_id, options, agent, answer) => {
    // Of several agents in a column, those are named that have it.
    expect(answer).toMatch(/^(yes|–|`.*`)$/)
    const has = answer === 'yes' || codeIn(answer).includes(agent.id)
    const samples = codeIn(options).map((name) => SAMPLES[name] ?? {})
    for (const sample of samples.length > 0 ? samples : [OTHERS]) {
      expect(takes(agent, sample)).toBe(has)
    }
  })
})

describe('the example', () => {
  const example = async (...words: string[]) =>
    (await promisify(execFile)(process.execPath, ['examples/ues.ts', ...words])).stdout

  test('asks the built-in agent, unless others are named', async () => {
    expect(await example()).toBe('echo: hello\necho ended with success\n')
  })

  test('asks as many as are named', async () => {
    const lines = (await example('echo', 'echo', 'hi there')).trimEnd().split('\n')
    expect(lines.sort()).toEqual([
      'echo ended with success',
      'echo ended with success',
      'echo: hi there',
      'echo: hi there',
    ])
  })
})
