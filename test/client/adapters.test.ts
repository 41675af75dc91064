import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BoardAdapter, ClaudeAdapter, CodexAdapter, GeminiAdapter } from '../../src/client/adapters/index.ts'
import { AgentClient, type AgentEvent, HttpTransport, type ProtocolAdapter } from '../../src/client/index.ts'
import { decodeRecording } from '../../src/compose/decode.ts'
import { unified } from '../../src/dialects/unified.ts'
import { editAll } from '../edit-all.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick } from './scene.ts'

const SESSION = '00000000-0000-4000-8000-000000000000'

/** What a server says of the same recording. */
function served(agent: string, bytes: Uint8Array): object[] {
  const state = unified.initial({})
  const { entries } = decodeRecording({ agent, stdout: [bytes] })
  return entries.flatMap((entry) => unified.project(state, entry))
}

/** An event without what only one of the two knows: times, and how the session was started. */
function common(event: object): object {
  const {
    timestamp: _,
    durationMs: __,
    config: ___,
    nativeSessionId: ____,
    ...rest
  } = { ...event } as Record<string, unknown>
  return rest
}

/** Edits each value as soon as the next one is requested. */
function* edited(values: readonly object[]): Generator<object> {
  for (const value of values) {
    yield value
    editAll(value)
  }
}

const options = { sessionId: SESSION, workingDirectory: '/', now: () => 0 }

describe.each([
  ['claude', new ClaudeAdapter(options), ['file', 'two_tools']],
  ['codex', new CodexAdapter(options), ['file', 'tool_fail']],
  ['gemini', new GeminiAdapter(options), ['file_edit', 'text']],
])('the adapter for %s', (agent, adapter, recordings) => {
  it.each(recordings)('says of the recording %s what a server says', async (recording) => {
    const bytes = readFileSync(`src/agents/${agent}/fixtures/${agent}/${recording}/stdout.jsonl`)
    const events = await collect(adapter.adaptEvents(bytes.toString().split('\n')))
    expect(events.length).toBeGreaterThan(3)
    expect(events.map(common)).toEqual(served(agent, bytes).map(common))
  })

  it.each(recordings)(
    'reports %s the same to a consumer that edits every event and every value',
    async (recording) => {
      const text = readFileSync(`src/agents/${agent}/fixtures/${agent}/${recording}/stdout.jsonl`, 'utf8')
      const lines = text.trim().split('\n')
      const expected = (await collect(adapter.adaptEvents(lines))).map((event) => JSON.stringify(event))
      const given = lines.map((line) => JSON.parse(line))
      const seen: string[] = []
      for await (const event of adapter.adaptEvents(edited(given))) {
        seen.push(JSON.stringify(event))
        editAll(event)
      }
      expect(seen).toEqual(expected)
    },
  )

  it('ends a stream that was cut off as failed, and never as done', async () => {
    const bytes = readFileSync(`src/agents/${agent}/fixtures/${agent}/${recordings[0]}/stdout.jsonl`, 'utf8')
    const half = bytes.split('\n').slice(0, 3)
    expect((await collect(adapter.adaptEvents(half))).at(-1)).toMatchObject({
      type: 'sessionEnded',
      reason: 'failed',
    })
  })
})

const events = (...bodies: { type: string; payload: object }[]) =>
  bodies.map((body, index) => ({ id: `evt-${index}`, sessionId: SESSION, timestamp: '2026-01-01', ...body }))

describe('the adapter for a board', () => {
  const work = [
    { type: 'log', payload: { line: 'Reading' } },
    { type: 'action', payload: { tool: 'Edit', args: { file_path: 'a.ts' } } },
    { type: 'toolResult', payload: { tool: 'Edit', success: true, output: 'ok' } },
  ]
  const told = (all: readonly AgentEvent[]) => all.map(({ type }) => type)

  it('takes the end of the messages for the end of a session that is done', async () => {
    const all = await collect(new BoardAdapter().adaptEvents(events(...work)))
    expect(told(all)).toEqual([
      'sessionStarted',
      'turnStarted',
      'logEntry',
      'textChunk',
      'toolStarted',
      'toolCompleted',
      'turnCompleted',
      'sessionEnded',
    ])
    expect(all.at(-1)).toMatchObject({ reason: 'completed' })
  })

  it.each([
    ['error', { message: 'Session failed: Permission denied' }, 'failed'],
    ['cancelled', {}, 'cancelled'],
  ])('believes an %s', async (type, payload, reason) => {
    const all = await collect(new BoardAdapter().adaptEvents(events(...work, { type, payload })))
    expect(all.at(-1)).toMatchObject({ type: 'sessionEnded', reason })
  })

  it('asks with the words of the board, and refuses what a board cannot keep to', () => {
    const adapter = new BoardAdapter()
    const request = { agentType: 'claude', prompt: 'go', config: { projectId: 'p' } }
    expect(adapter.translateRequest(request)).toEqual({
      kind: 'http',
      method: 'POST',
      path: '/api/sessions',
      body: { agentId: 'claude', projectId: 'p', prompt: 'go' },
    })
    const wish = { ...request, config: { approvalMode: 'autoAll' as const } }
    expect(() => adapter.translateRequest(wish)).toThrow(expect.objectContaining({ type: 'protocolError' }))
    expect(adapter.translateConfig({ agentId: 'claude', projectId: 'p' })).toEqual({
      agentType: 'claude',
      projectId: 'p',
    })
  })

  it('lets a client follow a server that speaks nothing else', async () => {
    await using server = await startGateway()
    const transport = new HttpTransport({
      baseUrl: server.url,
      token: TOKEN,
      dialect: 'board',
      timers: quick,
    })
    const client = new AgentClient({ agentType: 'puppet', transport, adapter: new BoardAdapter() })
    const session = await client.createSession({
      prompt: script(text('a', 'one'), text('b', 'two'), success),
    })
    const all = await collect(session.read())
    const words = all.flatMap(({ event }) => (event.type === 'textChunk' ? [event.content] : []))
    expect(words).toEqual(['one', 'two'])
    const middle = all[2]?.cursor
    if (!middle) throw new Error('there is a third event')
    expect((await collect(session.read({ after: middle }))).map(({ event }) => event.id)).toEqual(
      all.slice(3).map(({ event }) => event.id),
    )
  })
})

describe('a request becomes what the program takes', () => {
  const ask = (adapter: ProtocolAdapter, config: object = {}, more: object = {}) =>
    adapter.translateRequest({ agentType: 'x', prompt: 'do it', config, ...more })

  it.each([
    ['claude', new ClaudeAdapter(), '--output-format=stream-json'],
    ['codex', new CodexAdapter(), '--json'],
    ['gemini', new GeminiAdapter(), '--output-format=stream-json'],
  ])('%s: its command line, and the prompt on its input alone', (program, adapter, flag) => {
    const native = ask(adapter, { model: 'm1', workingDirectory: '/w' })
    if (native.kind !== 'process') throw new Error('it is a program')
    expect(native).toMatchObject({ cwd: '/w' })
    expect(native.argv[0]).toBe(program)
    expect(native.argv).toContain(flag)
    expect(native.argv.join(' ')).toContain('m1')
    expect(native.argv.join(' ')).not.toContain('do it')
    expect(native.input).toContain('do it')
  })

  it('no directory is made up where none is given', () => {
    for (const adapter of [new ClaudeAdapter(), new CodexAdapter(), new GeminiAdapter()])
      expect(ask(adapter)).not.toHaveProperty('cwd')
    const native = ask(new CodexAdapter({ workingDirectory: '/w' }))
    expect(native).toMatchObject({ cwd: '/w' })
  })

  it('a session to resume is on the command line', () => {
    const native = ask(new CodexAdapter(), {}, { sessionId: 'sess_1' })
    expect(native).toMatchObject({ argv: expect.arrayContaining(['resume', 'sess_1']) })
  })

  it.each([new ClaudeAdapter(), new CodexAdapter(), new GeminiAdapter()])(
    'asking and never asking are different requests: %#',
    (adapter) => {
      const modes = ['ask', 'autoAll'].map((approvalMode) => JSON.stringify(ask(adapter, { approvalMode })))
      expect(new Set(modes).size).toBe(2)
    },
  )

  it('the approval policy of Codex has the name that the document gives it', () => {
    const policyOf = (approvalMode: string) => {
      const native = ask(new CodexAdapter(), { approvalMode, sandboxMode: 'workspaceWrite' })
      return native.kind === 'process' ? native.argv.slice(-2) : []
    }
    expect(policyOf('ask')).toEqual(['--config=approval_policy="untrusted"', '-'])
    expect(policyOf('askDangerous')).toEqual(['--config=approval_policy="on-request"', '-'])
    expect(policyOf('autoAll')).toEqual(['--config=approval_policy="never"', '-'])
  })

  it('a policy that the program cannot enforce is refused', () => {
    expect(ask(new ClaudeAdapter(), { maxTurns: 3 })).toMatchObject({ argv: expect.anything() })
    for (const refused of [
      () => ask(new CodexAdapter(), { maxTurns: 3 }),
      () => ask(new GeminiAdapter(), { sandboxMode: 'workspaceWrite' }),
      () => ask(new ClaudeAdapter(), {}, { sessionId: '--dangerous' }),
    ])
      expect(refused).toThrow(expect.objectContaining({ name: 'AgentError' }))
  })
})

describe('settings of an agent become a configuration', () => {
  it.each([
    ['claude', new ClaudeAdapter(), { permissionMode: 'default' }, { approvalMode: 'ask' }],
    ['claude', new ClaudeAdapter(), { permissionMode: 'acceptEdits' }, { approvalMode: 'autoEdit' }],
    ['claude', new ClaudeAdapter(), { dangerouslySkipPermissions: true }, { approvalMode: 'autoAll' }],
    ['claude', new ClaudeAdapter(), { allowedTools: 'Read, Edit' }, { allowedTools: ['Read', 'Edit'] }],
    ['claude', new ClaudeAdapter(), { maxTurns: 3, model: 'm' }, { maxTurns: 3, model: 'm' }],
    ['codex', new CodexAdapter(), { approval_policy: 'untrusted' }, { approvalMode: 'ask' }],
    ['codex', new CodexAdapter(), { approval_policy: 'on-request' }, { approvalMode: 'askDangerous' }],
    [
      'codex',
      new CodexAdapter(),
      {
        core: { approval_policy: 'on-request', sandbox_mode: 'workspace-write' },
        sandbox_workspace_write: {},
      },
      { approvalMode: 'askDangerous', sandboxMode: 'workspaceWrite' },
    ],
    [
      'codex',
      new CodexAdapter(),
      { core: { approval_policy: 'on-request' }, approval_policy: 'never' },
      { approvalMode: 'autoAll' },
    ],
    [
      'claude',
      new ClaudeAdapter(),
      { permissions: { defaultMode: 'acceptEdits', allow: ['Read'], deny: ['Bash'] } },
      { approvalMode: 'autoEdit', allowedTools: ['Read'], blockedTools: ['Bash'] },
    ],
    [
      'gemini',
      new GeminiAdapter(),
      { tools: { sandbox: 'docker', exclude: ['shell'] }, model: { name: 'm', maxSessionTurns: 3 } },
      { sandboxMode: 'workspaceWrite', blockedTools: ['shell'], model: 'm', maxTurns: 3 },
    ],
    ['codex', new CodexAdapter(), { approval_policy: 'never' }, { approvalMode: 'autoAll' }],
    ['codex', new CodexAdapter(), { sandbox_mode: 'read-only' }, { sandboxMode: 'readOnly' }],
    ['codex', new CodexAdapter(), { sandbox_mode: 'danger-full-access' }, { sandboxMode: 'fullAccess' }],
    ['gemini', new GeminiAdapter(), { approvalMode: 'auto_edit' }, { approvalMode: 'autoEdit' }],
    ['gemini', new GeminiAdapter(), { approvalMode: 'default', yolo: true }, { approvalMode: 'autoAll' }],
    ['gemini', new GeminiAdapter(), { sandbox: true }, { sandboxMode: 'workspaceWrite' }],
    ['gemini', new GeminiAdapter(), { excludeTools: ['shell'] }, { blockedTools: ['shell'] }],
  ])('%s %#', (agentType, adapter, native, config) => {
    expect(adapter.translateConfig(native)).toEqual({ agentType, ...config })
    const untranslated = { somethingElse: 1, 'a.b': ['c'] }
    const translated = adapter.translateConfig({ ...native, somethingElse: 1, a: { b: ['c'] }, empty: {} })
    expect(translated).toEqual({ agentType, ...config, untranslated })
  })

  it('the settings of the document are translated or returned', () => {
    const native = {
      core: { approval_policy: 'on-request', sandbox_mode: 'workspace-write' },
      sandbox_workspace_write: { network_access: false, writable_roots: ['/extra/path'] },
    }
    expect(new CodexAdapter().translateConfig(native)).toEqual({
      agentType: 'codex',
      approvalMode: 'askDangerous',
      sandboxMode: 'workspaceWrite',
      untranslated: {
        'sandbox_workspace_write.network_access': false,
        'sandbox_workspace_write.writable_roots': ['/extra/path'],
      },
    })
  })

  it.each([
    [new ClaudeAdapter(), { maxTurns: '3' }, 'maxTurns: "3" is not a positive integer'],
    [new ClaudeAdapter(), { maxTurns: 0 }, 'maxTurns: 0 is not a positive integer'],
    [new ClaudeAdapter(), { model: 5 }, 'model: 5 is not a text'],
    [new ClaudeAdapter(), { allowedTools: ['Read', 5] }, 'allowedTools: ["Read",5] is not a list of texts'],
  ])('a value of another type is refused: %#', (adapter, native, message) => {
    expect(() => adapter.translateConfig(native)).toThrow(message)
  })

  it('an unknown word is refused, not guessed', () => {
    expect(() => new CodexAdapter().translateConfig({ approval_policy: 'sometimes' })).toThrow('sometimes')
    expect(() => new CodexAdapter().translateConfig({ approval_policy: 'toString' })).toThrow('toString')
  })
})
