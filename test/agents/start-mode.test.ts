import { describe, expect, test } from 'vitest'
import { claude } from '../../src/agents/claude/agent.ts'
import { DEFAULT_POLICY, type Policy } from '../../src/model/index.ts'
import { result, Talk } from './acp/acp-talk.ts'
import { opened, written } from './codex/codex-wire.ts'
import { Talk as OpencodeTalk } from './opencode/opencode-talk.ts'

const OPEN: Policy = { approval: 'auto-all', sandbox: 'none' }

describe('a process that continues in a mode', () => {
  test.each([
    ['plan', '--permission-mode=plan'],
    ['acceptEdits', '--permission-mode=acceptEdits'],
    // Nothing is bypassed unless the policy says so, and here it does.
    ['bypassPermissions', '--dangerously-skip-permissions'],
  ])('claude starts in %s', (mode, flag) => {
    const start = { launch: 'live', cwd: '/', policy: OPEN, options: {}, epoch: 2, mode } as const
    const launch = claude.launches.live?.launch(start)
    const argv = launch && 'argv' in launch ? launch.argv : []
    const flags = argv.filter((one) => /permission-mode|skip-permissions/.test(one))
    expect(flags).toEqual([flag])
  })

  test('claude bypasses nothing if only the mode requests it', () => {
    const mode = 'bypassPermissions'
    const start = { launch: 'live', cwd: '/', policy: DEFAULT_POLICY, options: {}, epoch: 2, mode } as const
    expect(JSON.stringify(claude.launches.live?.launch(start))).toContain('--permission-mode=default')
  })

  test('an ACP agent gets it after its session is open', () => {
    const talk = new Talk('acp', { mode: 'yolo' })
    talk.tell({ type: 'open' })
    talk.write(result(1, { protocolVersion: 1 }))
    const modes = { currentModeId: 'default', availableModes: [{ id: 'default' }, { id: 'yolo' }] }
    expect(talk.write(result(2, { sessionId: 's1', modes }))).toEqual([
      { jsonrpc: '2.0', id: 3, method: 'session/set_mode', params: { sessionId: 's1', modeId: 'yolo' } },
    ])
  })

  test('codex gets it with its first turn', () => {
    const [turn] = written(opened({ mode: 'plan' }).command({ type: 'prompt', text: 'go' }))
    expect(turn).toMatchObject({ params: { collaborationMode: { mode: 'plan' } } })
  })

  test('opencode gets it with its first prompt', () => {
    const talk = new OpencodeTalk()
    const { conversation } = talk
    conversation.change({ policy: DEFAULT_POLICY, options: {} }, { type: 'set_policy', mode: 'plan' })
    conversation.launch()
    talk.command({ type: 'open' })
    talk.http('session', 200, { id: 'ses_2' })
    talk.command({ type: 'prompt', text: 'Go' })
    expect(talk.calls.at(-1)).toMatchObject({ body: { agent: 'plan' } })
  })
})
