import * as z from 'zod'
import type * as types from './request.types.ts'

/** What the agent asks for: to run a tool, to answer questions, to approve a plan, or to log in. */
export const RequestKind = z.enum(['permission', 'question', 'plan', 'login'])
export type RequestKind = types.RequestKind

/** How long an `allow` applies: to this call, to the session, or to all later sessions of the agent. */
export const Scope = z.enum(['once', 'session', 'always'])
export type Scope = types.Scope

/** A decision that the agent offers. */
export const RequestOption = z.strictObject({
  id: z.string().describe("The agent's id of the option."),
  label: z.string().describe('The label for people.'),
  effect: z.enum(['allow', 'deny']).describe('The decision that the option stands for.'),
  scope: Scope.describe('How long the decision applies.'),
  default: z.boolean().optional().describe("True for the agent's default."),
})
export type RequestOption = types.RequestOption

/** A predefined answer to a question. */
export const QuestionOption = z.strictObject({
  label: z.string().describe('The answer; send it back unchanged.'),
  description: z.string().optional().describe('An explanation for people.'),
})

/** A question of the agent. */
export const Question = z.strictObject({
  id: z.string().describe('The key of the answer in `answers`.'),
  header: z.string().optional().describe('A short heading.'),
  text: z.string().describe('The question.'),
  options: z.array(QuestionOption).describe('The predefined answers.'),
  multiple: z.boolean().optional().describe('True if several answers may be given.'),
  other: z.boolean().optional().describe('True if a free text may be given instead.'),
  secret: z.boolean().optional().describe('True if the answer must not be displayed.'),
})
export type Question = types.Question

/** Answers by question id. A question with `multiple` may have several. */
export const Answers = z.record(z.string(), z.array(z.string()))
export type Answers = types.Answers

/** The decision on a request: `allow` or `deny`, or `answered` for questions. */
export const Decision = z.enum(['allow', 'deny', 'answered'])
export type Decision = types.Decision

/** Who decides a request: a person, the policy of the session, or its hook. */
export const Decider = z.enum(['person', 'policy', 'hook'])
export type Decider = types.Decider

/**
 * The kind of client that sent a command: the web page, the terminal, a client of `mainstem stdio`, another HTTP client,
 * a client of `/rpc`, of the board API or of `/v1/execute`, or a program that uses the library. HTTP clients name
 * themselves, so the server does not verify it.
 */
export const ClientKind = z.enum(['page', 'terminal', 'stdio', 'api', 'rpc', 'board', 'execute', 'library'])
export type ClientKind = types.ClientKind

/** Who sent a command, as events and records name it. */
export const Author = z.strictObject({
  principal: z.string().describe('The principal whose client sent it.'),
  client: ClientKind.describe('The kind of client that sent it, as it named itself.'),
})
export type Author = types.Author
