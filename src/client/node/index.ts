/** `mainstem/client` in Node: the same names, and an `AgentClient` that needs no server. Its types are those of `../index.ts`. */
export {
  AgentError,
  AgentErrorType,
  AgentType,
  ApprovalMode,
  EventBuffer,
  FallbackTransport,
  HttpTransport,
  MainstemClient,
  MainstemError,
  MockTransport,
  SandboxMode,
  SseTransport,
  selectTransport,
  translateError,
  WebSocketTransport,
} from '../index.ts'
export { AgentClient } from './agent-client.ts'
