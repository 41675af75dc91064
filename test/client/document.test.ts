import { expect, it } from 'vitest'
import { CodexAdapter } from '../../src/client/adapters/index.ts'
import {
  AgentClient,
  type AgentEvent,
  AgentType,
  ApprovalMode,
  MockTransport,
  SandboxMode,
  selectTransport,
} from '../../src/client/index.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { chunks, collect, lines } from './scene.ts'

const WORK = script(
  text('m1', 'I will look.'),
  {
    say: { type: 'tool.started', toolId: 't1', name: 'Edit', kind: 'edit', input: { file_path: 'a.ts' } },
  },
  {
    say: {
      type: 'tool.completed',
      toolId: 't1',
      name: 'Edit',
      kind: 'edit',
      status: 'success',
      output: 'written',
    },
  },
  { say: { type: 'file.changed', path: 'a.ts', change: 'modified', toolId: 't1' } },
  success,
)

/** The loop of the usage example. */
async function print(events: AsyncIterable<AgentEvent>): Promise<string[]> {
  const printed: string[] = []
  for await (const event of events) {
    switch (event.type) {
      case 'textChunk':
        printed.push(event.content)
        break
      case 'toolStarted':
        printed.push(`Tool: ${event.toolName}`, `Args: ${JSON.stringify(event.arguments)}`)
        break
      case 'toolCompleted':
        printed.push(`Result: ${event.result} (success: ${event.success})`)
        break
      case 'fileChanged':
        printed.push(`File ${event.changeType}: ${event.filePath}`)
        break
      case 'sessionEnded':
        printed.push(`Session ended: ${event.reason}`)
        break
      default:
    }
  }
  return printed
}

it('the usage example of the document runs: begin, follow, resume', async () => {
  await using server = await startGateway()
  const client = new AgentClient({
    agentType: 'puppet',
    config: { workingDirectory: server.root, baseUrl: server.url, token: TOKEN },
  })
  const session = await client.createSession({
    prompt: WORK,
    config: { approvalMode: ApprovalMode.ask, sandboxMode: SandboxMode.none },
  })
  expect(await print(session.events)).toEqual([
    'I will look.',
    'Tool: Edit',
    'Args: {"file_path":"a.ts"}',
    'Result: written (success: true)',
    'File modified: a.ts',
    'Session ended: completed',
  ])
  const resumed = await client.resumeSession({
    sessionId: session.id,
    prompt: script(text('m2', 'More.'), success),
  })
  expect(resumed.id).toBe(session.id)
  expect(await print(resumed.events)).toEqual(['More.', 'Session ended: completed'])
  expect(await client.list()).toEqual([expect.objectContaining({ id: session.id, state: 'done' })])
})

const MOCK_EVENTS = [
  '{"type":"thread.started","thread_id":"sess_123"}',
  '{"type":"turn.started"}',
  '{"type":"item.started","item_type":"agent_message"}',
  '{"type":"item.completed","item_type":"agent_message","status":"success"}',
  '{"type":"turn.completed","usage":{"input_tokens":100,"output_tokens":50}}',
]

const UNIFIED = [
  { type: 'sessionStarted', agentType: 'codex' },
  { type: 'turnStarted', turnNumber: 1 },
  { type: 'logEntry', event: { type: 'session.updated', nativeSessionId: 'sess_123' } },
  { type: 'textChunk', content: '', isComplete: true },
  { type: 'logEntry', event: { type: 'usage.reported', scope: 'turn', input: 100, output: 50 } },
  { type: 'turnCompleted', usage: { inputTokens: 100, outputTokens: 50, totalTokens: 150 } },
  { type: 'sessionEnded', reason: 'completed' },
]

it('the five mock lines of the document become unified events', async () => {
  const adapter = new CodexAdapter()
  expect(await collect(adapter.adaptEvents(MOCK_EVENTS))).toMatchObject(UNIFIED)
})

it('the five mock lines give the same through a client, a mock transport and the adapter', async () => {
  const transport = new MockTransport(MOCK_EVENTS, { delayMs: 1 })
  const client = new AgentClient({ agentType: AgentType.codex, transport, adapter: new CodexAdapter() })
  const session = await client.createSession({ prompt: 'go' })
  expect(await collect(session.events)).toMatchObject(UNIFIED)
  expect(transport.requests).toEqual([expect.objectContaining({ kind: 'process', input: 'go' })])
})

it('a mock transport plays unified events as they are', async () => {
  const events = chunks(3)
  const client = new AgentClient({ agentType: 'echo', transport: new MockTransport(lines(events)) })
  const session = await client.createSession({ prompt: 'go' })
  expect(await collect(session.events)).toEqual(events)
  expect(await collect(session.events), 'every loop reads by itself').toEqual(events)
})

it('a transport is selected by what is there', async () => {
  await using server = await startGateway()
  const options = { baseUrl: server.url.replace('http', 'ws'), token: TOKEN }
  for (const transport of [selectTransport(options), selectTransport(AgentType.claude, options)]) {
    const client = new AgentClient({ agentType: 'echo', transport })
    const session = await client.createSession({ prompt: 'hello' })
    expect((await collect(session.events)).at(-1)).toMatchObject({ type: 'sessionEnded' })
  }
})
