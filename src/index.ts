export {
  type AgentReadiness,
  Mainstem,
  type MainstemOptions,
  mainstem,
  type SessionRequest,
} from './library/mainstem.ts'
export type { OutputSchema } from './library/output.ts'
export { AgentSession, type Answer, type AnswerableRequest, type Answerer } from './library/session.ts'
export { Turn, type TurnPrompt, type TurnResult } from './library/turn.ts'
export {
  type Entry,
  type ErrorCode,
  type Event,
  MainstemError,
  type Policy,
  type Usage,
} from './model/index.ts'
