// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { NativeSessionId, SessionName } from '../ids.types.ts'
import type { LaunchKind } from '../session/capability.types.ts'
import type { Image, ModelName, ModeName } from '../session/options.types.ts'
import type { Policy } from '../session/policy.types.ts'
import type { Answers, ClientKind, Decider, Decision, Scope } from './request.types.ts'

/** Starts the conversation with the agent. */
export type OpenCommand = {
  /** Narrows the union. */
  type: 'open'
  /** The agent's own session to continue. */
  resume?: NativeSessionId | undefined
}

/** Starts a turn, or queues it. */
export type PromptCommand = {
  /** Narrows the union. */
  type: 'prompt'
  /** The text of the prompt. */
  text: string
  /** The client's id of the prompt. */
  promptId?: string | undefined
  /** Images that belong to the prompt. */
  images?: Image[] | undefined
  /** The id of the prompt before which the files are restored, if this one is `/rewind`. */
  rewindTo?: string | undefined
}

/** Sends a prompt into the open turn. */
export type SteerCommand = {
  /** Narrows the union. */
  type: 'steer'
  /** The text of the prompt. */
  text: string
  /** The client's id of the prompt. */
  promptId?: string | undefined
  /** The principal whose client sent it. */
  principal?: string | undefined
  /** The kind of client that sent it, as it named itself. */
  client?: ClientKind | undefined
}

/** Stops the open turn. */
export type InterruptCommand = {
  /** Narrows the union. */
  type: 'interrupt'
}

/** The decision on an open request, as a caller of any interface gives it. */
export type RequestAnswer = {
  /** The `inputDigest` of the request that the caller saw. Agents may reuse a request id. */
  inputDigest: string
  /** `answered` for questions, otherwise `allow` or `deny`. */
  decision: Decision
  /** How long an `allow` applies; `once` by default. */
  scope?: Scope | undefined
  /** A message to the agent, such as the reason of a denial. */
  message?: string | undefined
  /** With `deny`: also stops the turn. */
  interrupt?: boolean | undefined
  /** The answers to the questions, with `answered`. */
  answers?: Answers | undefined
  /** With `allow`: replaces the input of the tool call, where the agent supports it. */
  input?: Record<string, unknown> | undefined
}

/** Answers an open request. */
export type AnswerCommand = {
  /** `answered` for questions, otherwise `allow` or `deny`. */
  decision: Decision
  /** How long an `allow` applies; `once` by default. */
  scope?: Scope | undefined
  /** A message to the agent, such as the reason of a denial. */
  message?: string | undefined
  /** With `deny`: also stops the turn. */
  interrupt?: boolean | undefined
  /** The answers to the questions, with `answered`. */
  answers?: Answers | undefined
  /** With `allow`: replaces the input of the tool call, where the agent supports it. */
  input?: Record<string, unknown> | undefined
  /** Narrows the union. */
  type: 'answer'
  /** The request to answer. */
  requestId: string
  /** Who decided; `person` by default. */
  by?: Decider | undefined
  /** The principal whose client sent the answer. */
  principal?: string | undefined
  /** The kind of client that sent the answer. */
  client?: ClientKind | undefined
}

/** An answer with the digest of the request that the caller saw, because agents may reuse a request id. */
export type BoundAnswer = {
  /** `answered` for questions, otherwise `allow` or `deny`. */
  decision: Decision
  /** How long an `allow` applies; `once` by default. */
  scope?: Scope | undefined
  /** A message to the agent, such as the reason of a denial. */
  message?: string | undefined
  /** With `deny`: also stops the turn. */
  interrupt?: boolean | undefined
  /** The answers to the questions, with `answered`. */
  answers?: Answers | undefined
  /** With `allow`: replaces the input of the tool call, where the agent supports it. */
  input?: Record<string, unknown> | undefined
  /** Narrows the union. */
  type: 'answer'
  /** The request to answer. */
  requestId: string
  /** Who decided; `person` by default. */
  by?: Decider | undefined
  /** The principal whose client sent the answer. */
  principal?: string | undefined
  /** The kind of client that sent the answer. */
  client?: ClientKind | undefined
  /** The `inputDigest` of the request that the caller saw. Agents may reuse a request id. */
  inputDigest: string
}

/** Changes the model. */
export type SetModelCommand = {
  /** Narrows the union. */
  type: 'set_model'
  /** The name of the model; `null` for the default of the agent. */
  model: ModelName | null
}

/** Changes the policy, or the agent's own mode. */
export type SetPolicyCommand = {
  /** Narrows the union. */
  type: 'set_policy'
  /** The new policy. */
  policy?: Policy | undefined
  /** The agent's own name of a mode. */
  mode?: ModeName | undefined
}

/** Another agent continues the session. */
export type HandOverCommand = {
  /** Narrows the union. */
  type: 'hand_over'
  /** The id of the agent that continues. */
  agent: string
  /** How the agent is run; as for a new session by default. */
  launch?: LaunchKind | undefined
  /** The model; the default of the agent by default. */
  model?: ModelName | undefined
}

/** Gives the session a name. */
export type RenameCommand = {
  /** Narrows the union. */
  type: 'rename'
  /** The name; `null` removes it. */
  name: SessionName | null
}

/** Ends the session. */
export type CloseCommand = {
  /** Narrows the union. */
  type: 'close'
}

/** When a change of settings takes effect: `next_turn` if a turn is open and ends with the old settings. */
export type Applied = 'now' | 'next_turn'

/** A request to a session, which may refuse it. Accepted commands are durable before they reach the agent. */
export type Command =
  | OpenCommand
  | PromptCommand
  | SteerCommand
  | InterruptCommand
  | AnswerCommand
  | SetModelCommand
  | SetPolicyCommand
  | CloseCommand
