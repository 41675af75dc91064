import type { Launch, Write } from '../agents/agent.ts'
import type { Frame } from '../framing/frame.ts'
import type { BlobSink, ErrorInfo } from '../model/index.ts'

/** Where the keys are that a child is given. */
export interface ChildKeys {
  environment: Readonly<Record<string, string>>
  /** Values in it that the child's own settings name as keys. */
  named?: readonly string[]
  /** A login that was generated for this run, in all its forms. No principal knows it. */
  login?: readonly string[]
}

export interface RunContext {
  /** Marks every process of this run, so that none can hide from the sweep. */
  runId: string
  cwd: string
  /** `cwd` is a real path, and nothing starts where a link has replaced a part of it. */
  isRealCwd?: boolean
  /** Set for this child on top of what its launch asks for. */
  env: Readonly<Record<string, string>>
  blobs: BlobSink
  /** Receives the keys of the child before it starts: no log may show one. */
  protect?(keys: ChildKeys): void
}

/** How a run ended; `error` when it never started or its connection broke. */
export interface RunExit {
  code?: number
  signal?: string
  error?: ErrorInfo
  /** Pids of what could not be ended with it, such as a program that runs as another user. */
  survivors?: readonly number[]
}

/** A launch that is running. It always ends: `frames` finishes and then `exit` is settled. */
export interface Run {
  /** The first process of the run; undefined when none was started. */
  readonly pid: number | undefined
  /** Batches, one for each chunk read: no promise is paid for a single event. Not reading slows the child. */
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly exit: Promise<RunExit>
  write(write: Write): Promise<void>
  /** Ends it and everything it started, step by step, bounded; idempotent. */
  stop(): Promise<void>
  /** The present moment for `endTools`; nothing where start times of processes cannot be compared. */
  moment?(): number | undefined
  /**
   * Ends programs that were started since a moment and that left the session of the run's first process. Helpers of
   * the agent, such as MCP servers, are older than the turn or in that session. Returns the pids that nothing ended.
   */
  endTools?(since: number): Promise<readonly number[]>
}

/** Runs a launch and owns what it started. */
export interface Driver<L extends Launch = Launch> {
  start(launch: L, context: RunContext): Run
}

/** Time that passes, injected so that tests need not wait for it. */
export interface Timers {
  /** Settles after `ms`, or at once when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
