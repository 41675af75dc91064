import { describe, expect, test } from 'vitest'
import { acpAgents } from '../../src/agents/acp/agent.ts'
import { claude } from '../../src/agents/claude/agent.ts'
import { codex } from '../../src/agents/codex/agent.ts'
import { gemini } from '../../src/agents/gemini/agent.ts'
import { opencode } from '../../src/agents/opencode/agent.ts'
import { MainstemError, type Policy } from '../../src/model/index.ts'
import type { PermissionMode, PermissionTier } from '../../src/ues/index.ts'
import { permissionOf } from '../../src/ues/permission.ts'
import { launched } from './launched.ts'

type Cell = `${Policy['approval']} ${Policy['sandbox']}`

const MODES = [undefined, 'plan', 'ask', 'default', 'accept_edits', 'bypass'] as const
const [PLAN, ASK, DANGER, EDIT, ALL]: Cell[] = [
  'ask read-only',
  'ask none',
  'ask-dangerous none',
  'auto-edit none',
  'auto-all full-access',
]

/** A row for each tier, a column for each mode. */
const TABLE: readonly (readonly [PermissionTier | undefined, ...(Cell | undefined)[]])[] = [
  //              no mode  plan  ask   default accept_edits bypass
  [undefined, ASK, PLAN, ASK, DANGER, EDIT, ALL],
  ['dry-run', PLAN, PLAN, PLAN, PLAN, PLAN, PLAN],
  ['supervised', EDIT, PLAN, ASK, DANGER, EDIT, EDIT],
  ['autonomous', ALL, PLAN, ASK, DANGER, EDIT, ALL],
]

const CELLS = TABLE.flatMap(([tier, ...cells]) =>
  MODES.map((mode, column) => [tier, mode, cells[column]] as const),
)

test('the table has a cell for each tier and mode', () => {
  expect(CELLS).toHaveLength(24)
  expect(CELLS.every(([, , cell]) => cell !== undefined)).toBe(true)
})

test.each(CELLS)('tier %s with mode %s is %s', (tier, mode, cell) => {
  const { approval, sandbox } = permissionOf({
    ...(tier && { permissionTier: tier }),
    ...(mode && { permissionMode: mode satisfies PermissionMode }),
  })
  expect(`${approval} ${sandbox}`).toBe(cell)
})

/** What an agent makes of a tier: its policy, or a refusal. */
function outcomeOf(agent: (typeof acpAgents)[number], permissionTier: PermissionTier): string {
  try {
    const { policy } = launched(agent, { permissionTier }).request
    return `${policy?.approval} ${policy?.sandbox}`
  } catch (thrown) {
    return thrown instanceof MainstemError ? thrown.code : String(thrown)
  }
}

describe('a tier as each agent keeps it', () => {
  const SANDBOXED = 'auto-edit workspace-write'
  test.each([
    [claude, PLAN, EDIT, ALL],
    [codex, PLAN, SANDBOXED, ALL],
    [gemini, PLAN, EDIT, ALL],
    [opencode, PLAN, EDIT, ALL],
  ])('$id', (agent, dryRun, supervised, autonomous) => {
    expect(outcomeOf(agent, 'dry-run')).toBe(dryRun)
    expect(outcomeOf(agent, 'supervised')).toBe(supervised)
    expect(outcomeOf(agent, 'autonomous')).toBe(autonomous)
  })

  test.each(acpAgents.map((agent) => [agent.id, agent] as const))('%s', (id, agent) => {
    expect([PLAN, 'unsupported_option']).toContain(outcomeOf(agent, 'dry-run'))
    expect(outcomeOf(agent, 'supervised')).toBe(id === 'codex-acp' ? SANDBOXED : EDIT)
    expect(outcomeOf(agent, 'autonomous')).toBe(ALL)
  })
})
