import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import {
  type AgentAdapter,
  type AgentEvent,
  acp,
  type CanUseTool,
  claudeCode,
  codex,
  gemini,
  opencode,
} from '../../src/ues/index.ts'
import { WRONG } from '../faces/wrong-values.ts'
import { someOf } from '../long.ts'
import { claude, ending, only, playing, program, run, serving, types } from './scene.ts'

const allow: CanUseTool = async () => ({ allow: true })
const refuse: CanUseTool = async () => ({ allow: false, message: 'not here' })

/** A copy of a recording in which one text is another. */
function editedRecording(from: string, to: string): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'recording-'))
  cpSync('src/agents/opencode/fixtures/opencode-serve/tool_bash_perm_reject', path, { recursive: true })
  const output = join(path, 'stdout.jsonl')
  writeFileSync(output, readFileSync(output, 'utf8').replaceAll(from, to))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

/** What the stand-in was answered, which is the result it ends with. */
async function answerFrom(canUseTool: CanUseTool, prompt = 'use Bash') {
  const events = await run(claude(), prompt, { canUseTool })
  return { events, answer: JSON.parse(ending(events).result ?? 'null') }
}

describe('the callback', () => {
  test('is asked with the tool and its input, and a yes allows the call as it was asked', async () => {
    const canUseTool = vi.fn(allow)
    const { events, answer } = await answerFrom(canUseTool)
    expect(canUseTool.mock.calls).toEqual([['Bash', { command: 'rm x' }, { canonicalName: 'execute' }]])
    expect(answer).toEqual({ behavior: 'allow', updatedInput: { command: 'rm x' } })
    expect(ending(events).status).toBe('success')
  })

  test('cannot change what the agent is going to run', async () => {
    const { answer } = await answerFrom(async (_tool, input) => {
      input.command = 'rm -rf /'
      return { allow: true }
    })
    expect(answer.updatedInput).toEqual({ command: 'rm x' })
  })

  test('refuses with its own words, and a refusal of the caller is no failure', async () => {
    const { events, answer } = await answerFrom(refuse)
    expect(answer).toEqual({ behavior: 'deny', message: 'not here' })
    expect(only(events, 'tool_result')[0]?.payload).toMatchObject({ status: 'denied' })
    expect(ending(events).status).toBe('success')
  })

  test('may refuse without a word', async () => {
    const { answer } = await answerFrom(async () => ({ allow: false }))
    expect(answer).toMatchObject({ behavior: 'deny', message: expect.stringMatching(/\w/) })
  })

  const INVALID = 'canUseTool returned an invalid answer: '
  const failing: readonly (readonly [string, string, () => unknown])[] = [
    ['rejects', 'canUseTool failed: boom', () => Promise.reject(new Error('boom'))],
    [
      'throws',
      'canUseTool failed: boom',
      () => {
        throw new Error('boom')
      },
    ],
    ['returns nothing', `${INVALID}answer: must be an object. Return { allow: true } or `, () => undefined],
    ['returns null', `${INVALID}answer: must be an object`, () => null],
    ['returns no decision', `${INVALID}allow: must be true or false`, () => ({})],
    ['returns another shape', `${INVALID}behavior: unknown field`, () => ({ behavior: 'allow' })],
    ['returns more than a decision', `${INVALID}input: unknown field`, () => ({ allow: true, input: {} })],
    ['gives no text as a reason', `${INVALID}message: must be a string`, () => ({ allow: true, message: 1 })],
  ]
  test.each(failing)('denies when it %s, and reports that', async (_how, message, decide) => {
    const canUseTool: CanUseTool = Object.assign(async () => ({ allow: true }), {})
    const broken = new Proxy(canUseTool, { apply: decide })
    const { events, answer } = await answerFrom(broken)
    expect(answer).toMatchObject({ behavior: 'deny', message: expect.stringContaining(message) })
    expect(types(events).slice(-2)).toEqual(['error', 'done'])
    expect(only(events, 'error').map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ code: 'answer_invalid', message: expect.stringContaining(message) }),
    )
    expect(ending(events).status).toBe('error')
  })

  test('allows by nothing but a clear yes', async () => {
    const vague = new Proxy(allow, { apply: async () => ({ allow: 'yes' }) })
    expect((await answerFrom(vague)).answer.behavior).toBe('deny')
  })

  test('is not asked questions, and a question is not answered by consent', async () => {
    const canUseTool = vi.fn(allow)
    const { events, answer } = await answerFrom(canUseTool, 'use AskUserQuestion')
    expect(canUseTool).not.toHaveBeenCalled()
    expect(answer.behavior).toBe('deny')
    expect(only(events, 'permission_request')[0]?.payload.toolName).toBe('AskUserQuestion')
  })

  test('is not asked for what the tier allows', async () => {
    const canUseTool = vi.fn(refuse)
    const events = await run(claude(), 'use Bash', { canUseTool, permissionTier: 'autonomous' })
    expect(canUseTool).not.toHaveBeenCalled()
    expect(only(events, 'permission_request')).toEqual([])
    expect(ending(events).result).toContain('"allow"')
  })

  test('may be too late: a decision on a question that was taken back changes nothing', async () => {
    const decision = Promise.withResolvers<{ allow: boolean }>()
    const stop = new AbortController()
    const options = { abortSignal: stop.signal, canUseTool: () => decision.promise }
    const events: AgentEvent[] = []
    for await (const event of claude().run('withdraw', options)) {
      events.push(event)
      if (event.type !== 'mainstem:permission_withdrawn') continue
      decision.resolve({ allow: true })
      // Whatever the decision causes has happened by then.
      setImmediate(() => stop.abort())
    }
    expect(types(events)).toContain('mainstem:permission_withdrawn')
    expect(only(events, 'error')).toEqual([])
    expect(ending(events).status).toBe('interrupted')
  })

  test('cannot give what the agent does not offer: the call is denied', async () => {
    const [first = '', ...rest] = program('fake-acp.mjs').command ?? []
    const events = await run(acp([first, ...rest]), 'go', { canUseTool: allow })
    const resolved = events.filter(({ type }) => type === 'mainstem:permission_resolved')
    expect(resolved.map(({ payload }) => payload)).toMatchObject([{ decision: 'deny', by: 'policy' }])
    expect(only(events, 'text')[0]?.payload.content).toBe('{"outcome":"selected","optionId":"no"}')
    expect(ending(events).status).toBe('error')
  })
})

test('every question is an event, before anything else happens to the call', async () => {
  const { events } = await answerFrom(allow)
  const [asked] = only(events, 'permission_request')
  expect(asked?.payload).toMatchObject({ toolName: 'Bash', input: { command: 'rm x' } })
  expect(asked?.payload.toolUseId).toBe(only(events, 'tool_use')[0]?.payload.toolUseId)
  expect(asked?.metadata).toMatchObject({ kind: 'permission', requestId: expect.any(String) })
  const order = types(events)
  expect(order.indexOf('permission_request')).toBeLessThan(order.indexOf('tool_result'))
})

test('without a callback a decision that is needed is an event too, and the call is denied', async () => {
  const events = await run(claude(), 'use Bash')
  const order = types(events)
  expect(only(events, 'permission_request').map(({ payload }) => payload.toolName)).toEqual(['Bash'])
  expect(order.indexOf('permission_request')).toBeLessThan(order.indexOf('mainstem:permission_resolved'))
  expect(only(events, 'tool_result')[0]?.payload).toMatchObject({ status: 'denied' })
  expect(only(events, 'error').at(-1)?.payload.code).toBe('permission_denied')
  expect(ending(events)).toMatchObject({ status: 'error' })
})

describe('recorded agents that ask', () => {
  const asks: readonly (readonly [string, () => AgentAdapter, boolean, string])[] = [
    ['claude', () => playing(claudeCode, 'claude/fixtures/claude/bidi_perm_allow'), true, 'Bash'],
    ['claude', () => playing(claudeCode, 'claude/fixtures/claude/bidi_perm_deny'), false, 'Bash'],
    ['claude', () => playing(claudeCode, 'claude/fixtures/claude/bidi_plan'), true, 'ExitPlanMode'],
    ['codex', () => playing(codex, 'codex/fixtures/codex/as_approval_accept'), true, 'commandExecution'],
    ['codex', () => playing(codex, 'codex/fixtures/codex/as_approval_decline'), false, 'commandExecution'],
    ['gemini', () => playing(gemini, 'gemini/fixtures/acp-gemini/tool_bash'), true, 'run_shell_command'],
    [
      'gemini',
      () => playing(gemini, 'gemini/fixtures/acp-gemini/tool_bash_reject'),
      false,
      'run_shell_command',
    ],
    ['opencode', () => serving('tool_bash_perm_once'), true, 'bash'],
    ['opencode', () => serving('tool_bash_perm_reject'), false, 'bash'],
  ]
  test.each(asks)('%s is answered, and continues', async (_id, adapter, yes, tool) => {
    const canUseTool = vi.fn<CanUseTool>(async () => ({ allow: yes }))
    const events = await run(adapter(), 'go', { canUseTool })
    expect(canUseTool.mock.calls.map(([name]) => name)).toEqual([tool])
    const [resolved] = events.filter(({ type }) => type === 'mainstem:permission_resolved')
    expect(resolved?.payload).toMatchObject({ decision: yes ? 'allow' : 'deny', by: 'person' })
    expect(only(events, 'tool_result')[0]?.payload.status).toBe(yes ? 'success' : 'denied')
    expect(ending(events).status).toBe('success')
  })

  const denied = asks.filter(([, , yes]) => !yes)
  const answers = ['allow true', 'allow false']
  const wrong = someOf(
    Object.keys(WRONG).filter((name) => !answers.includes(name)),
    4,
  )
  const cells = denied.flatMap(([id, adapter]) => wrong.map((name) => [id, name, adapter] as const))
  test.each(cells)('%s is denied by %s, which is no answer', async (_id, name, adapter) => {
    const canUseTool = new Proxy(allow, { apply: async () => WRONG[name] })
    const events = await run(adapter(), 'go', { canUseTool })
    const resolved = events.filter(({ type }) => type === 'mainstem:permission_resolved')
    expect(resolved.map(({ payload }) => payload)).toMatchObject([{ decision: 'deny', by: 'policy' }])
    expect(only(events, 'tool_result').map(({ payload }) => payload.status)).toEqual(['denied'])
    expect(only(events, 'error').map(({ payload }) => payload.code)).toContain('answer_invalid')
  })
})

test('a permission beyond the call is named, with what it is about', async () => {
  const canUseTool = vi.fn<CanUseTool>(refuse)
  using folder = editedRecording('"permission":"bash"', '"permission":"external_directory"')
  await run(opencode(program('../fake-agents/server.mjs', 'recorded', folder.path)), 'go', { canUseTool })
  expect(canUseTool.mock.calls).toMatchObject([
    [
      'bash',
      { command: expect.any(String) },
      {
        permission: 'external_directory',
        title: expect.stringContaining('external_directory: '),
        data: { permission: 'external_directory', patterns: expect.any(Array) },
      },
    ],
  ])
})
