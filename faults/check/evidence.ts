import type { Entry } from '../../src/model/index.ts'
import type { JournalFrame } from '../../src/stores/store.ts'
import type { AgentHistory } from '../fakes/history.ts'

/** A prompt as its client knows it. */
export interface SentPrompt {
  text: string
  /** The session and turn of the server's answer; absent without an answer. */
  session?: string
  turn?: number
  /** The session was deleted, or refused the prompt: nothing was promised. */
  isVoid?: boolean
}

/** An answer to a permission request. Without a status, the connection broke before the response. */
export interface SentAnswer {
  session: string
  requestId: string
  decision: 'allow' | 'deny'
  status?: number
}

/** An interrupt that was confirmed: the turn that its client had seen running, and the log's head in the response. */
export interface SentInterrupt {
  session: string
  turn: number
  head: number
}

/** The requests of clients and the responses to them. */
export class ClientHistory {
  readonly prompts: SentPrompt[] = []
  readonly answers: SentAnswer[] = []
  readonly interrupts: SentInterrupt[] = []
  readonly deleted = new Set<string>()
}

/** Everything that is known of a trial: from the clients, the logs and the agents. */
export interface Evidence {
  logs: ReadonlyMap<string, readonly Entry[]>
  journals: ReadonlyMap<string, readonly JournalFrame[]>
  histories: readonly AgentHistory[]
  clients: ClientHistory
  /** Values that must not appear anywhere, each with its replacement. */
  secrets: ReadonlyMap<string, string>
}

/** Agents that keep no history: they run inside the server. */
const BUILT_IN: readonly string[] = ['echo', 'demo']

/** The logs of sessions whose agent keeps a history. */
export function* agentLogs({ logs }: Evidence): Generator<[session: string, entries: readonly Entry[]]> {
  for (const [session, entries] of logs) {
    const first = entries[0]?.event
    if (first?.type === 'session.started' && !BUILT_IN.includes(first.agent)) yield [session, entries]
  }
}
