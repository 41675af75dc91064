import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gemini as geminiCli } from '../../src/agents/gemini/agent.ts'
import {
  type AgentAdapter,
  type AgentOptions,
  acp,
  codex,
  echo,
  gemini,
  opencode,
} from '../../src/ues/index.ts'
import { sessionRequest } from '../../src/ues/session-request.ts'
import { launched } from './launched.ts'
import { claude, ending, only, run, told, types } from './scene.ts'

const argvWith = async (options: AgentOptions) => told(await run(claude(), 'tell', options)).argv

describe('an option that the agent has', () => {
  const flags: readonly (readonly [AgentOptions, string[]])[] = [
    [{}, ['--permission-mode=default']],
    [{ model: 'opus' }, ['--model=opus']],
    [{ permissionTier: 'dry-run' }, ['--permission-mode=plan']],
    [{ permissionTier: 'supervised' }, ['--permission-mode=acceptEdits']],
    [{ permissionTier: 'autonomous' }, ['--dangerously-skip-permissions']],
    [{ permissionTier: 'autonomous', permissionMode: 'ask' }, ['--permission-mode=default']],
    [{ maxTurns: 3 }, ['--max-turns=3']],
    [{ maxBudgetUsd: 0.5 }, ['--max-budget-usd=0.5']],
    [{ resume: 'abc-1' }, ['--resume=abc-1']],
    [{ allowedTools: ['Read', 'Bash'] }, ['--tools=Read,Bash']],
    [{ allowedTools: [] }, ['--tools=']],
    [{ disallowedTools: ['Bash'] }, ['--disallowedTools=Bash']],
    [
      { allowedTools: ['Read', 'Bash'], disallowedTools: ['Bash'] },
      ['--tools=Read,Bash', '--disallowedTools=Bash'],
    ],
  ]

  test.each(flags)('%o reaches it', async (options, expected) => {
    expect(await argvWith(options)).toEqual(expect.arrayContaining(expected))
  })

  test('is not passed when it asks for nothing', async () => {
    const plain = await argvWith({})
    expect(await argvWith({ resume: '', disallowedTools: [] })).toEqual(plain)
  })
})

describe('the directory', () => {
  test('is the current one unless it is named', async () => {
    expect(told(await run(claude(), 'tell')).cwd).toBe(process.cwd())
    const there = realpathSync(tmpdir())
    const events = await run(claude(), 'tell', { cwd: there })
    expect(told(events).cwd).toBe(there)
    expect(only(events, 'init')[0]?.payload.cwd).toBe(there)
  })

  test('may be named from here', async () => {
    const events = await run(claude(), 'tell', { cwd: 'test' })
    expect(told(events).cwd).toBe(join(process.cwd(), 'test'))
    expect(only(events, 'init')[0]?.payload.cwd).toBe(join(process.cwd(), 'test'))
  })
})

describe('a conversation continues', () => {
  test('by the session id of an earlier run', async () => {
    const [first] = await run(claude(), 'say hello')
    expect(await argvWith({ resume: first?.sessionId ?? '' })).toContain('--resume=native-1')
  })

  test('as soon as the earlier run has reported its end', async () => {
    for await (const { type, sessionId } of claude().run('say hello')) {
      if (type === 'done') expect(await argvWith({ resume: sessionId })).toContain('--resume=native-1')
    }
    expect.assertions(1)
  })

  test('by the id that the agent reported', async () => {
    const [first] = await run(claude(), 'say hello')
    const native = String(first?.metadata?.nativeSessionId)
    expect(await argvWith({ resume: native })).toContain(`--resume=${native}`)
  })
})

describe('an option that the agent cannot keep to is refused before anything starts', () => {
  const REFUSED: readonly (readonly [AgentAdapter, AgentOptions, string])[] = [
    [codex(), { maxBudgetUsd: 1 }, 'maxBudgetUsd'],
    [codex(), { allowedTools: ['Read'] }, 'allowedTools'],
    [codex(), { disallowedTools: ['Read'] }, 'disallowedTools'],
    [codex(), { permissionTier: 'supervised', maxBudgetUsd: 1 }, 'maxBudgetUsd'],
    [gemini(), { maxTurns: 1, canUseTool: async () => ({ allow: true }) }, 'maxTurns'],
    [gemini(), { maxBudgetUsd: 1 }, 'maxBudgetUsd'],
    [gemini(), { allowedTools: ['Read'] }, 'allowedTools'],
    [opencode(), { allowedTools: ['write'] }, 'allowedTools'],
    [acp('goose'), { maxTurns: 1 }, 'maxTurns'],
    [acp(['some-agent']), { disallowedTools: ['x'] }, 'disallowedTools'],
    [echo(), { resume: 'abc' }, 'resume'],
    [echo(), { canUseTool: async () => ({ allow: true }) }, 'canUseTool'],
  ]

  test.each(REFUSED.map(([adapter, ...rest]) => [adapter.id, ...rest, adapter] as const))(
    '%s: %o',
    async (_id, options, named, adapter) => {
      const events = await run(adapter, 'x', options)
      expect(types(events)).toEqual(['init', 'error', 'done'])
      const [error] = only(events, 'error')
      expect(error?.payload).toMatchObject({ code: 'unsupported_option', recoverable: false })
      expect(error?.payload.message).toContain(named)
      expect(error?.payload.message).toContain(adapter.id)
      expect(error?.metadata).toHaveProperty('option')
      expect(ending(events)).toMatchObject({ status: 'error', usage: { usageReported: false } })
    },
  )
})

describe('the launch of a run', () => {
  const canUseTool = async () => ({ allow: true })

  test('is chosen by the session, unless a callback needs the one that asks', () => {
    expect(sessionRequest(geminiCli, { maxTurns: 3 })).not.toHaveProperty('launch')
    expect(sessionRequest(geminiCli, { maxTurns: 3, canUseTool })).toHaveProperty('launch', 'live')
  })

  test.each([
    [{}, 'live'],
    [{ maxTurns: 3 }, 'oneshot'],
    [{ maxTurns: 3, permissionTier: 'autonomous' }, 'oneshot'],
    [{ canUseTool }, 'live'],
    [{ canUseTool, permissionTier: 'autonomous' }, 'live'],
  ] as const)('is the one that supports %o', (options, launch) => {
    expect(launched(geminiCli, options).launch).toBe(launch)
  })

  test('is never one that would not call the callback', () => {
    const options: AgentOptions = { maxTurns: 3, canUseTool, permissionTier: 'autonomous' }
    expect(() => launched(geminiCli, options)).toThrow('maxSteps is not supported by gemini')
  })
})
