import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isNode, type Node, source } from './architecture/source.ts'

/** Every name that the package promises, by entry. A change here is a change of the public interface. */
const PINNED: Record<string, readonly string[]> = {
  '.': [
    'AgentSession',
    'Mainstem',
    'MainstemError',
    'Turn',
    'mainstem',
    'type AgentReadiness',
    'type Answer',
    'type AnswerableRequest',
    'type Answerer',
    'type Entry',
    'type ErrorCode',
    'type Event',
    'type MainstemOptions',
    'type OutputSchema',
    'type Policy',
    'type SessionRequest',
    'type TurnPrompt',
    'type TurnResult',
    'type Usage',
  ],
  './client': [
    'AgentClient',
    'AgentError',
    'AgentErrorType',
    'AgentType',
    'ApprovalMode',
    'EventBuffer',
    'FallbackTransport',
    'HttpTransport',
    'MainstemClient',
    'MainstemError',
    'MockTransport',
    'SandboxMode',
    'SseTransport',
    'WebSocketTransport',
    'selectTransport',
    'translateError',
    'type AdaptedSession',
    'type AgentClientOptions',
    'type AgentErrorDetails',
    'type AgentEvent',
    'type AgentEventType',
    'type AgentInfo',
    'type AgentRequest',
    'type BeginSession',
    'type BegunSession',
    'type ClientConfig',
    'type ConnectionOptions',
    'type ConnectionState',
    'type CreateOptions',
    'type CreateSession',
    'type Cursor',
    'type Delivery',
    'type EntriesOptions',
    'type Entry',
    'type EntryPage',
    'type ErrorEvent',
    'type Event',
    'type EventBufferOptions',
    'type EventType',
    'type FileChangedEvent',
    'type HttpOptions',
    'type LiveEntry',
    'type LiveOptions',
    'type MainstemClientOptions',
    'type MockOptions',
    'type ModeChange',
    'type NativeRequest',
    'type OpenRequest',
    'type Overflow',
    'type PageQuery',
    'type Policy',
    'type PollingOptions',
    'type ProtocolAdapter',
    'type Read',
    'type ReadOptions',
    'type RequestAnswer',
    'type RequestClosedEvent',
    'type RequestOpenedEvent',
    'type ResumeSession',
    'type RetryOptions',
    'type ServerInfo',
    'type Session',
    'type SessionConfig',
    'type SessionEndedEvent',
    'type SessionPage',
    'type SessionQuery',
    'type SessionRecord',
    'type SessionStartedEvent',
    'type SessionState',
    'type SessionSummary',
    'type SignIn',
    'type Spent',
    'type TextChunkEvent',
    'type Timers',
    'type ToolCompletedEvent',
    'type ToolFailedEvent',
    'type ToolProgressEvent',
    'type ToolStartedEvent',
    'type Transport',
    'type TurnCompletedEvent',
    'type TurnFailedEvent',
    'type TurnStartedEvent',
    'type Usage',
    'type UsageReport',
    'type WebSocketOptions',
  ],
  './client/adapters': [
    'BoardAdapter',
    'ClaudeAdapter',
    'CodexAdapter',
    'GeminiAdapter',
    'type AdapterOptions',
    'type BoardAdapterOptions',
  ],
  './client/stdio': ['StdioTransport', 'selectTransport', 'type StdioOptions'],
  './model': [
    'AnswerCommand',
    'Answers',
    'Applied',
    'Approval',
    'BlobRef',
    'Capabilities',
    'Command',
    'Coverage',
    'DEFAULT_POLICY',
    'Decision',
    'DeniedBy',
    'ERRORS',
    'Entry',
    'ErrorCode',
    'ErrorInfo',
    'Event',
    'FACES',
    'Image',
    'LaunchKind',
    'Location',
    'MainstemError',
    'McpServer',
    'ModeName',
    'ModelName',
    'NativeSessionId',
    'OUTSIDE_ID',
    'Outcome',
    'Policy',
    'Question',
    'RequestKind',
    'RequestOption',
    'SCHEMA_VERSION',
    'Sandbox',
    'Scope',
    'SessionId',
    'SessionOptions',
    'SessionRecord',
    'ToolKind',
    'ToolStatus',
    'Usage',
    'addUsage',
    'adviceFor',
    'decide',
    'exitCodeOf',
    'isZeroUsage',
    'jsonRpcCode',
    'subtractUsage',
    'toMainstemError',
    'type BlobSink',
    'type BlobWriter',
    'type BoundAnswer',
    'type Cause',
    'type EventType',
    'type Evidence',
    'type ToolHook',
    'type Verdict',
  ],
  './testing': [
    'SCENARIOS',
    'offlineEnvironment',
    'recordedAgent',
    'scriptedModel',
    'type Action',
    'type Fault',
    'type ModelCall',
    'type NativeCall',
    'type OfflineEnvironment',
    'type OfflineProgram',
    'type RecordedRequest',
    'type Reply',
    'type Scenario',
    'type ScriptedModel',
    'type ScriptedModelOptions',
    'writeOfflineFiles',
  ],
  './ues': [
    'acp',
    'claudeCode',
    'codex',
    'echo',
    'gemini',
    'opencode',
    'runParallel',
    'type AgentAdapter',
    'type AgentEvent',
    'type AgentEventType',
    'type AgentId',
    'type AgentOptions',
    'type AgentSettings',
    'type BaseEvent',
    'type CanUseTool',
    'type DonePayload',
    'type InitPayload',
    'type ParallelTask',
    'type PermissionMode',
    'type PermissionRequestPayload',
    'type PermissionTier',
    'type ToolCallInfo',
    'type ToolResultPayload',
    'type ToolUsePayload',
  ],
}

const manifest: { exports: Record<string, string | { default: string }> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

/** The modules among the entries; data files are exported as they are. */
const entries = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === 'string'
    ? []
    : [[entry, target.default.replace('./dist/', 'src/').replace(/js$/, 'ts')] as const],
)

const nodesIn = (list: unknown): Node[] => (Array.isArray(list) ? list.filter(isNode) : [])

/** The names a module exports, types marked as such; an entry is a table of contents and declares nothing. */
function exportedNames(path: string): string[] {
  const { root } = source(path, readFileSync(path, 'utf8'))
  return nodesIn(root.body)
    .flatMap((statement) =>
      nodesIn(statement.specifiers).map((name) => {
        const isType = statement.exportKind === 'type' || name.exportKind === 'type'
        return `${isType ? 'type ' : ''}${isNode(name.exported) ? name.exported.name : '?'}`
      }),
    )
    .sort()
}

describe('the public interface', () => {
  it('has exactly the pinned entries', () => {
    expect(entries.map(([entry]) => entry).sort()).toEqual(Object.keys(PINNED).sort())
  })

  it.each(entries)('%s exports exactly the pinned names', (entry, path) => {
    expect(exportedNames(path)).toEqual(PINNED[entry])
  })

  it.each(entries)('%s loads, and gives a value for every name that is not a type', async (_entry, path) => {
    const module: object = await import(pathToFileURL(path).href)
    const values = exportedNames(path).filter((name) => !name.startsWith('type '))
    expect(Object.keys(module).sort()).toEqual(values)
  })
})
