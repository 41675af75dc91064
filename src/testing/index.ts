export type { ModelCall } from './model-call.ts'
export {
  type OfflineEnvironment,
  type OfflineProgram,
  offlineEnvironment,
  writeOfflineFiles,
} from './offline.ts'
export { recordedAgent } from './recorded-agent.ts'
export type { RecordedRequest } from './requests.ts'
export type { Action, Fault, NativeCall, Reply, Scenario } from './scenario.ts'
export { SCENARIOS } from './scenarios.ts'
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model.ts'
