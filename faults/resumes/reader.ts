import { AgentError, MainstemError, type RetryOptions } from '../../src/client/index.ts'
import type { Random } from '../random.ts'

/** The log of a session as a reader received it. */
export interface Log {
  /** The id of each message, in order. */
  ids: readonly string[]
  /** All text of the agent, joined. */
  text: string
  /** How many turns ended. */
  ends: number
}

/** A session over one transport. */
export interface Reader extends AsyncDisposable {
  /** Begins a session and gives its id. */
  begin(agent: string, prompt: string): Promise<string>
  /** Sends the prompt of turn `turn`, and reads the log from its start to the end of this turn. */
  resume(session: string, prompt: string, turn: number): Promise<Log>
  /** Reads the log once more, to compare. */
  read(session: string, turn: number): Promise<Log>
}

/** How to reach the server. */
export interface Way {
  url: string
  token: string
  /** The server's data directory, for a process that reads the token from there. */
  data: string
  /** Decides where a reader stops, in order to continue from its cursor. */
  random: Random
}

/** The proxy cuts most connections, so ten failures in a row do not mean that the server is gone. */
export const RETRY: RetryOptions = { retries: 500, minDelayMs: 1, maxDelayMs: 20 }

const CUT: ReadonlySet<string> = new Set(['connectionFailed', 'timeout', 'connection_failed'])

/** Sends a request with an idempotency key again, while connections break before its answer. */
export async function untilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await call()
    } catch (thrown) {
      const reason =
        thrown instanceof AgentError ? thrown.type : thrown instanceof MainstemError && thrown.code
      if (!reason || !CUT.has(reason)) throw thrown
    }
  }
}
