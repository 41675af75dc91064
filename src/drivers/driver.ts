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
  /** Variables that replace those of this process, as far as the launch passes them on. */
  keys?: Readonly<Record<string, string>>
  /** Stores the large values of frames. */
  values: ValueSink
  /** Starts a run that outlives this process. Its folder was prepared with `LastingRuns.prepare`. */
  lasting?: LastingStart
  /** Receives the child's credentials before the child starts, so that they are masked in every log. */
  protect?(keys: ChildKeys): void
}

/** How far the output of a run was read, in bytes of complete lines. */
export interface OutputPosition {
  stdout: number
  stderr: number
  /** The number of writes to a server that it has answered. Absent for other runs. */
  calls?: number
}

export interface LastingStart {
  /**
   * `whole`: the program reads its input to the end before it answers, so it starts when the input has ended. `none`: it
   * reads no input.
   */
  input: 'open' | 'whole' | 'none'
}

/** The end of a run; `error` is set when the run never started or its connection broke. */
export interface RunExit {
  code?: number
  signal?: string
  error?: ErrorInfo
  /** It ended while no process of ours was there, and nothing recorded how. */
  unseen?: true
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
  /** Settles when the first process has ended; `exit` also waits for the end of the processes that it left. */
  readonly exited?: Promise<unknown>
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
  /** Set for a run that outlives this process. */
  readonly lasting?: Lasting | undefined
}

/** What is known of the writes to a run. Writes are numbered from 0, in the order of the journal. */
export interface WriteState {
  /** The number of complete writes. */
  done: number
  /** How many bytes of the next write the agent has. */
  bytes: number
  /** The number of writes after these that the agent may have: their writer died before it knew. */
  doubtful: number
  /** It may have a part of the next write only. */
  isTorn?: boolean
}

export const NOTHING_WRITTEN: WriteState = { done: 0, bytes: 0, doubtful: 0 }

/** The part of a run that a later process continues from. */
export interface Lasting {
  /** How far the output was read that `frames` gave. */
  readonly position: OutputPosition
  /** Counts a write of the journal that is not made. */
  skip(): Promise<void>
  /** The output up to here is committed, so its space can be given back. */
  release(position: OutputPosition): void
  /** Stops reading and writing, and leaves the processes running for a later process. */
  leave(): Promise<void>
}

/** A run that an earlier process left. */
export interface LeftRun {
  runId: string
  /** The journal frame of its start. */
  frame: number
  /** False if no process was started. */
  isStarted: boolean
  /** When it was started, and when it wrote last, by the wall clock. */
  startedAt: number
  outputAt: number
}

/** Runs that outlive the process which started them. */
export interface LastingRuns {
  /**
   * Creates the folder of a run before its start is committed, so that a run with a folder and without a process was
   * never started. `frame` is the journal frame of its start.
   */
  prepare(runId: string, frame: number): void
  /** Stores the text of a journal frame as it was, because the journal hides a part of it. */
  keep(runId: string, frame: number, text: string): void
  /**
   * The texts that `keep` stored, by frame. Forgets those of frames after `committed`: their owner died before their
   * commit, and other frames will have their numbers.
   */
  kept(runId: string, committed: number): ReadonlyMap<number, string>
  /** A frame of the journal, as it was cut from the output. */
  frame(stream: string, text: string): Frame
  /** The runs of earlier processes, by id. */
  left(): Promise<ReadonlyMap<string, LeftRun>>
  /** The credentials that a run was started with. */
  keys(runId: string): ChildKeys | undefined
  /** What an earlier process wrote to a run. */
  written(runId: string): WriteState
  /** Continues a run of an earlier process, after the output that was committed. */
  attach(runId: string, from: OutputPosition, context: Pick<RunContext, 'values'>): Run
  /** Removes what is left of a run whose end is committed. */
  remove(runId: string): Promise<void>
  /** Terminates a run of an earlier process. Its files stay. Returns the pids that survived. */
  terminate(runId: string): Promise<readonly number[]>
}

/** Starts launches and owns the processes and connections that it opened. */
export interface Driver<L extends Launch = Launch> {
  start(launch: L, context: RunContext): Run
  /** Absent if runs end with this process. */
  readonly lasting?: LastingRuns | undefined
}

/** Injected timers, so that tests do not wait. */
export interface Timers {
  /** Settles after `ms`, or immediately when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
