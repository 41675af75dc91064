import type { Launch, Write } from '../agents/agent.ts'
import type { Frame } from '../framing/frame.ts'
import type { ErrorInfo } from '../model/index.ts'
import type { ValueSink } from '../model/text/large-value.ts'

/** The credentials that a child process receives. */
export interface ChildKeys {
  environment: Readonly<Record<string, string>>
  /** Values in `environment` that the agent's settings file names as credentials. */
  named?: readonly string[]
  /** A login generated for this run, in every form in which it may appear. No principal knows it. */
  login?: readonly string[]
}

export interface RunContext {
  /** Marks every process of this run, so that the sweep finds all of them. */
  runId: string
  cwd: string
  /** `cwd` is a real path; the start fails if a symbolic link has replaced a part of it. */
  isRealCwd?: boolean
  /** Variables for this child, in addition to those of its launch. */
  env: Readonly<Record<string, string>>
  /** Stores the large values of frames. */
  values: ValueSink
  /** Receives the child's credentials before the child starts, so that they are masked in every log. */
  protect?(keys: ChildKeys): void
}

/** The end of a run; `error` is set when the run never started or its connection broke. */
export interface RunExit {
  code?: number
  signal?: string
  error?: ErrorInfo
  /** Pids that could not be terminated, such as a program that runs as another user. */
  survivors?: readonly number[]
}

/** A running launch. It always ends: `frames` finishes, then `exit` settles. */
export interface Run {
  /** The first process of the run; undefined when none was started. */
  readonly pid: number | undefined
  /**
   * One batch per chunk that was read, so that a single event costs no promise. Backpressure: the child blocks when
   * batches are not read.
   */
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly exit: Promise<RunExit>
  /** Settles when the agent has closed its output: it can report nothing more, even if its process lives on. */
  readonly outputClosed?: Promise<void>
  write(write: Write): Promise<void>
  /** Terminates the run and every process it started, with a bounded signal sequence. Idempotent. */
  stop(): Promise<void>
  /** The current time for `endTools`; undefined where start times of processes cannot be compared. */
  moment?(): number | undefined
  /**
   * Terminates programs that were started since `since` and left the session of the run's first process. Helpers of the
   * agent, such as MCP servers, are older than the turn or belong to that session. Returns the pids that survived.
   */
  endTools?(since: number): Promise<readonly number[]>
}

/** Starts launches and owns the processes and connections that it opened. */
export interface Driver<L extends Launch = Launch> {
  start(launch: L, context: RunContext): Run
}

/** Injected timers, so that tests do not wait. */
export interface Timers {
  /** Settles after `ms`, or immediately when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
