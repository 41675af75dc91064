export { Mainstem, type MainstemOptions, mainstem, type SessionRequest } from './library/mainstem.ts'
export { AgentSession, type Answer, type Answerer } from './library/session.ts'
export { Turn, type TurnResult } from './library/turn.ts'
export {
  type Entry,
  type ErrorCode,
  type Event,
  MainstemError,
  type Policy,
  type Usage,
} from './model/index.ts'
