import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { acpAgents } from '../../src/agents/acp/agent.ts'
import { acp, claudeCode, codex, echo, gemini, opencode } from '../../src/ues/index.ts'
import { playing, program, run } from './scene.ts'

test('every adapter has the id that its events have, and a name for people', async () => {
  const named = [claudeCode(), codex(), gemini(), opencode(), acp('goose'), acp(['x']), echo()]
  expect(named.map(({ id, name }) => [id, name])).toEqual([
    ['claude-code', 'Claude Code'],
    ['codex', 'Codex CLI'],
    ['gemini', 'Gemini CLI'],
    ['opencode', 'OpenCode'],
    ['goose', 'Goose'],
    ['acp', 'Any ACP agent'],
    ['echo', 'Echo'],
  ])
  for (const adapter of named) {
    const [first] = await run(adapter, 'x', { abortSignal: AbortSignal.abort() })
    expect(first?.agent).toBe(adapter.id)
  }
})

describe('an ACP agent', () => {
  test('is chosen by any name of the registry', () => {
    const names = acpAgents.map(({ id }) => id)
    expect(names.length).toBeGreaterThan(10)
    expect(names.map((name) => acp(name).id)).toEqual(names)
  })

  test('of an unknown name is refused at once, with the known ones', () => {
    expect(() => acp('claude')).toThrow(/goose/)
    expect(() => acp('nobody')).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
  })

  test('is any program that speaks the protocol', async () => {
    const adapter = playing(({ command = [] }) => {
      const [first = '', ...rest] = command
      return acp([first, ...rest])
    }, 'gemini/fixtures/acp-gemini/text')
    const events = await run(adapter, 'go')
    expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set(['acp']))
    expect(events.at(-1)).toMatchObject({ type: 'done', payload: { status: 'success' } })
  })
})

describe('an adapter is available', () => {
  test('when its program is there', async () => {
    expect(await echo().isAvailable()).toBe(true)
    expect(await claudeCode(program('fake-claude.mjs')).isAvailable()).toBe(true)
    expect(await acp([process.execPath]).isAvailable()).toBe(true)
  })

  test('and not when it is missing, or is no program', async () => {
    expect(await claudeCode({ command: ['/no/such/program'] }).isAvailable()).toBe(false)
    expect(await codex({ command: [join(import.meta.dirname, 'scene.ts')] }).isAvailable()).toBe(false)
    expect(await acp(['no-such-program-anywhere']).isAvailable()).toBe(false)
  })
})
