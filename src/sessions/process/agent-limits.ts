/** Time limits for an agent, where its policy sets none. */
export interface AgentLimits {
  /** From the start of a process until it has answered its handshake, or loaded the conversation it resumes. */
  startMs: number
  /**
   * Without output, from the result of a one-shot process until its exit; and from the moment a process closed its
   * output.
   */
  exitMs: number
  /** Without output in a turn, until a notice is raised. */
  silenceMs: number
}

export const AGENT_LIMITS: AgentLimits = { startMs: 120_000, exitMs: 30_000, silenceMs: 60_000 }

/** Output after a result extends `exitMs`, up to this many times the limit in all. */
export const LONGEST_EXIT = 10

/**
 * The stage of a process: before its handshake, at work, after its result and before its exit, or without an output to
 * report a result on.
 */
export type Stage = 'starting' | 'working' | 'finished' | 'closed'
