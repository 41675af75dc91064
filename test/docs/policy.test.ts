import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nativeOf } from '../../scripts/policy-native.ts'
import { policyPage } from '../../scripts/policy-tables.ts'
import { agents } from '../../src/agents/index.ts'
import { Approval, LaunchKind, Sandbox } from '../../src/model/index.ts'

const page = readFileSync('docs/policy.md', 'utf8')

/** The part of the page below a heading that begins so. */
const below = (title: string) => page.split(/^### /m).find((part) => part.startsWith(title)) ?? ''

describe('the page on policies', () => {
  it('has the tables that the launches give now', () => {
    expect(policyPage(page)).toBe(page)
  })

  it('loses its tables when a mark is lost', () => {
    expect(() => policyPage(page.replace('<!-- grids -->', ''))).toThrow('no place for grids')
  })

  it('shows what a launch is really started with', () => {
    expect(below('claude live')).toContain('| `auto-edit` | `--permission-mode=acceptEdits` |')
    expect(below('codex oneshot')).toContain('`--dangerously-bypass-approvals-and-sandbox` |')
    expect(below('Options of codex')).toContain('with `workspace-write`: ')
  })

  it('names every agent that can be started', () => {
    const ids = agents.filter(({ setup }) => setup).map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(5)
    expect(ids.filter((id) => !new RegExp(`^(### |- )?${id} (live|oneshot)`, 'm').test(page))).toEqual([])
  })

  it('may leave the built-in agents out, because they take every policy', () => {
    const builtin = agents.filter(({ setup }) => !setup)
    expect(builtin.map(({ id }) => id).sort()).toEqual(['demo', 'echo'])
    for (const agent of builtin) {
      for (const kind of LaunchKind.options.filter((one) => agent.launches[one])) {
        for (const approval of Approval.options) {
          for (const sandbox of Sandbox.options) {
            expect(nativeOf(agent, kind, { approval, sandbox }, {})).toEqual({ parts: [] })
          }
        }
      }
    }
  })
})
