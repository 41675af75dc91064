// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** What the agent asks for: to run a tool, to answer questions, to approve a plan, or to log in. */
export type RequestKind = 'permission' | 'question' | 'plan' | 'login'

/** How long an `allow` applies: to this call, to the session, or to all later sessions of the agent. */
export type Scope = 'once' | 'session' | 'always'

/** A decision that the agent offers. */
export type RequestOption = {
  /** The agent's id of the option. */
  id: string
  /** The label for people. */
  label: string
  /** The decision that the option stands for. */
  effect: 'allow' | 'deny'
  /** How long the decision applies. */
  scope: Scope
  /** True for the agent's default. */
  default?: boolean | undefined
}

/** A predefined answer to a question. */
export type QuestionOption = {
  /** The answer; send it back unchanged. */
  label: string
  /** An explanation for people. */
  description?: string | undefined
}

/** A question of the agent. */
export type Question = {
  /** The key of the answer in `answers`. */
  id: string
  /** A short heading. */
  header?: string | undefined
  /** The question. */
  text: string
  /** The predefined answers. */
  options: QuestionOption[]
  /** True if several answers may be given. */
  multiple?: boolean | undefined
  /** True if a free text may be given instead. */
  other?: boolean | undefined
  /** True if the answer must not be displayed. */
  secret?: boolean | undefined
}

/** Answers by question id. A question with `multiple` may have several. */
export type Answers = Record<string, string[]>

/** The decision on a request: `allow` or `deny`, or `answered` for questions. */
export type Decision = 'allow' | 'deny' | 'answered'

/** Who decides a request: a person, the policy of the session, or its hook. */
export type Decider = 'person' | 'policy' | 'hook'

/**
 * The kind of client that sent a command: the web page, the terminal, a client of `mainstem stdio`, another
 * HTTP client, a client of `/rpc`, of the board API or of `/v1/execute`, or a program that uses the library.
 * HTTP clients name themselves, so the server does not verify it.
 */
export type ClientKind = 'page' | 'terminal' | 'stdio' | 'api' | 'rpc' | 'board' | 'execute' | 'library'

/** Who sent a command, as events and records name it. */
export type Author = {
  /** The principal whose client sent it. */
  principal: string
  /** The kind of client that sent it, as it named itself. */
  client: ClientKind
}
