/** `mainstem/client` in Node: the same names, and an `AgentClient` that needs no server. `../index.ts` has the types. */
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
