import { describe, expectTypeOf, test } from 'vitest'
import type * as adapters from '../../src/client/adapters/index.ts'
import type * as client from '../../src/client/index.ts'
import type { StdioTransport } from '../../src/client/stdio/index.ts'
import type { Entry, ErrorCode, SessionRecord } from '../../src/model/index.ts'

describe('the names of the document, and what they mean', () => {
  test('a client begins, resumes, lists and cancels', () => {
    expectTypeOf<client.AgentClient['createSession']>().returns.resolves.toEqualTypeOf<client.Session>()
    expectTypeOf<client.AgentClient['resumeSession']>().returns.resolves.toEqualTypeOf<client.Session>()
    expectTypeOf<client.AgentClient['resumeSession']>().parameter(0).toExtend<{
      sessionId: string
      prompt: string
    }>()
    expectTypeOf<client.AgentClient['list']>().returns.resolves.toEqualTypeOf<
      readonly client.SessionSummary[]
    >()
    expectTypeOf<client.AgentClient['cancel']>().parameters.toEqualTypeOf<[sessionId: string]>()
  })

  test('a session has an id, events, and can be cancelled', () => {
    expectTypeOf<client.Session['id']>().toBeString()
    expectTypeOf<client.Session['events']>().toEqualTypeOf<AsyncIterable<client.AgentEvent>>()
    expectTypeOf<client.Session['cancel']>().returns.resolves.toBeVoid()
  })

  test('the closed lists', () => {
    expectTypeOf<client.AgentEventType>().toEqualTypeOf<
      | 'sessionStarted'
      | 'sessionEnded'
      | 'turnStarted'
      | 'turnCompleted'
      | 'turnFailed'
      | 'textChunk'
      | 'toolStarted'
      | 'toolProgress'
      | 'toolCompleted'
      | 'toolFailed'
      | 'fileChanged'
      | 'requestOpened'
      | 'requestClosed'
      | 'reasoningChunk'
      | 'planUpdated'
      | 'fileWritten'
      | 'noticeRaised'
      | 'logEntry'
      | 'error'
    >()
    expectTypeOf<client.ApprovalMode>().toEqualTypeOf<'ask' | 'askDangerous' | 'autoEdit' | 'autoAll'>()
    expectTypeOf<client.SandboxMode>().toEqualTypeOf<'none' | 'readOnly' | 'workspaceWrite' | 'fullAccess'>()
    expectTypeOf<client.AgentErrorType>().toEqualTypeOf<
      | 'connectionFailed'
      | 'authenticationFailed'
      | 'sessionNotFound'
      | 'permissionDenied'
      | 'toolExecutionFailed'
      | 'timeout'
      | 'protocolError'
      | 'unknown'
    >()
    expectTypeOf<client.SessionState>().toEqualTypeOf<'running' | 'done' | 'failed' | 'cancelled'>()
    expectTypeOf<client.SessionEndedEvent['reason']>().toEqualTypeOf<
      'completed' | 'failed' | 'cancelled' | 'timeout'
    >()
    expectTypeOf<client.FileChangedEvent['changeType']>().toEqualTypeOf<'created' | 'modified' | 'deleted'>()
  })

  test('the type of an event determines its fields', () => {
    const textOf = (event: client.AgentEvent): string => {
      switch (event.type) {
        case 'textChunk':
          expectTypeOf(event).toEqualTypeOf<client.TextChunkEvent>()
          return event.content
        case 'toolStarted':
          expectTypeOf(event.arguments).toEqualTypeOf<Record<string, unknown>>()
          return event.toolName
        case 'turnCompleted':
          return `${event.usage.totalTokens}`
        default:
          return event.id
      }
    }
    expectTypeOf(textOf).returns.toBeString()
  })

  test('the configuration of a session', () => {
    expectTypeOf<Required<client.SessionConfig>>().toEqualTypeOf<{
      agentType: client.AgentType
      projectId: string
      workingDirectory: string
      model: string
      approvalMode: client.ApprovalMode
      sandboxMode: client.SandboxMode
      allowedTools: readonly string[]
      blockedTools: readonly string[]
      maxTurns: number
    }>()
  })

  test('every transport is a transport', () => {
    expectTypeOf<client.WebSocketTransport>().toExtend<client.Transport>()
    expectTypeOf<client.SseTransport>().toExtend<client.Transport>()
    expectTypeOf<client.HttpTransport>().toExtend<client.Transport>()
    expectTypeOf<client.MockTransport>().toExtend<client.Transport>()
    expectTypeOf<client.FallbackTransport>().toExtend<client.Transport>()
    expectTypeOf<StdioTransport>().toExtend<client.Transport>()
    expectTypeOf<typeof client.selectTransport>().returns.toEqualTypeOf<client.Transport>()
  })

  test('every adapter is an adapter', () => {
    expectTypeOf<adapters.ClaudeAdapter>().toExtend<client.ProtocolAdapter>()
    expectTypeOf<adapters.CodexAdapter>().toExtend<client.ProtocolAdapter>()
    expectTypeOf<adapters.GeminiAdapter>().toExtend<client.ProtocolAdapter>()
    expectTypeOf<adapters.BoardAdapter>().toExtend<client.ProtocolAdapter>()
    expectTypeOf<keyof client.ProtocolAdapter>().toEqualTypeOf<
      'adaptEvents' | 'translateRequest' | 'translateConfig'
    >()
  })

  test('errors and buffers', () => {
    expectTypeOf<client.AgentError>().toExtend<Error>()
    expectTypeOf<client.AgentError['type']>().toEqualTypeOf<client.AgentErrorType>()
    expectTypeOf<typeof client.translateError>().returns.toEqualTypeOf<client.AgentError>()
    expectTypeOf<client.EventBuffer['maxBufferSize']>().toBeNumber()
    expectTypeOf<client.EventBuffer['flushInterval']>().toBeNumber()
    expectTypeOf<client.EventBuffer['buffer']>().toBeCallableWith({} as AsyncIterable<client.AgentEvent>)
  })

  test('the client of our own API speaks the words of the model', () => {
    expectTypeOf<client.MainstemClient['session']>().returns.resolves.toEqualTypeOf<SessionRecord>()
    expectTypeOf<client.MainstemClient['entries']>().returns.toExtend<AsyncIterable<Entry>>()
    expectTypeOf<client.MainstemError['code']>().toEqualTypeOf<ErrorCode>()
  })
})
