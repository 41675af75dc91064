import type { Frame, FrameStream } from '../framing/frame.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type {
  Capabilities,
  Cause,
  Command,
  ErrorInfo,
  Event,
  Image,
  LaunchKind,
  Policy,
  SessionOptions,
  ToolKind,
  Usage,
  Verdict,
} from '../model/index.ts'
import type { Verb } from '../model/session/capability.types.ts'
import type { AgentSetup, NamedVariables } from './setup.ts'

/** The input of a codec when a native process starts. */
export interface Start {
  launch: LaunchKind
  cwd: string
  policy: Policy
  options: SessionOptions
  /** Counts the native processes of a session, because native ids restart with each process. */
  epoch: number
  /** The native session to resume. */
  resume?: string
  /** Continues a copy of the session to resume, which gets an id of its own. */
  fork?: boolean
  /** The version of the installed program, if known. Launch and codec may depend on it. */
  version?: string
  /** The native name of the chosen mode; it takes precedence over the policy's mode. */
  mode?: string
  /** The prompt of a one-turn process. `encode` writes its text; its images are passed at launch. */
  prompt?: { text: string; images: readonly Image[] }
  /** The usage of this session's turns so far, for agents that report running totals. */
  usageSoFar?: Usage
}

/** The end of a native process. `cause` is the reason if we ended it, otherwise `exit`. */
export interface Exit {
  code?: number
  signal?: string
  cause: Cause
  /** This agent exits in this way when a signal tells it to stop. */
  stopped?: true
  /** Set when the process could not be started or its connection broke. */
  error?: ErrorInfo
  /** The last lines of standard error, bounded and without control characters; absent when empty. */
  stderr?: string
}

/** How a frame was handled. Every frame has one verdict, and the counts add up. */
export type FrameVerdict = 'mapped' | 'unmapped' | 'malformed' | 'oversized'

/** The agent's own report on its turn, from which the session derives the outcome. */
export interface TurnVerdict extends Verdict {
  type: 'turn.verdict'
  result?: string
  structured?: unknown
  usage?: Usage
  nativeReason?: string
  /** The duration that the agent reported; the session's clock is the fallback. */
  durationMs?: number
  /** The agent removes the prompt of a cancelled turn from its context. */
  forgotten?: true
  /** The turn is lost, and why: the agent does not have its prompt. */
  lost?: string
  data?: unknown
}

/** The output of a codec: events without the fields that only the session knows (turn numbers, outcomes, digests). */
export type Emitted =
  | Exclude<
      Event,
      { type: `session.${'started' | 'ended'}` | `turn.${string}` | 'request.opened' | 'request.resolved' }
    >
  | Omit<RequestOpened, 'inputDigest' | 'canonicalName'>
  | { type: 'turn.started'; origin: 'prompt' | 'agent'; prompt?: string; promptId?: string }
  | { type: 'turn.steered'; prompt: string; effect: 'folded' | 'restarted' }
  | TurnVerdict

/** Input for the agent. */
export type Write =
  | { kind: 'text'; text: string }
  | { kind: 'end' }
  | {
      kind: 'http'
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
      path: string
      body?: unknown
      tag?: string
      /** The server responds when the work is over: later calls do not wait for it. */
      isLong?: true
    }

export interface Decoded {
  readonly verdict: FrameVerdict
  readonly emitted: readonly Emitted[]
  readonly writes: readonly Write[]
  /** Set when the agent or its protocol does not support the command. */
  readonly refused?: ErrorInfo
  /** The content of the frame is left out as a whole: another session, an ended turn, an earlier log or a later event has it. */
  readonly skipped?: true
  /** Texts of a late frame. An earlier event must have each, whatever the list of silent fields says. */
  readonly repeats?: readonly string[]
  /** Texts that begin with what earlier events have; the events of this frame have the rest. */
  readonly continues?: readonly string[]
  /** When a settings change takes effect, if not immediately. `next_process`: it requires a new process. */
  readonly applies?: 'next_turn' | 'next_process'
}

export type Doubt = 'again' | 'watch' | 'received'

/** A codec is a fold without clock, random numbers or I/O. It may mutate its own state. */
export interface Codec<State> {
  initial(start: Start): State
  /** Decodes a frame that the agent wrote. */
  decode(state: State, frame: Frame): Decoded
  /** Encodes a command for the agent. */
  encode(state: State, command: Command): Decoded
  /** Handles the exit of the process: settles everything that it left open. */
  end(state: State, exit: Exit): Decoded
  /**
   * Whether the process has completed its handshake. Absent for launches that send nothing before the first model call.
   */
  ready?(state: State): boolean
  /** Whether only the exit of the process is missing: it printed its result and has no background work. */
  finished?(state: State): boolean
  /**
   * Whether an interrupt is unconfirmed: the agent has neither acknowledged it nor ended a turn as interrupted. No turn
   * starts on the process until then.
   */
  unconfirmed?(state: State): boolean
  /**
   * What to do about a write that the agent may have, because its writer died before it knew. `again`: a second one
   * changes nothing, because the protocol names each with an id. `watch`: it must not be repeated, and the agent shows
   * whether it has it; then it is `received`. Otherwise the turn is lost.
   */
  doubtful?(state: State, write: Write): Doubt | undefined
  /**
   * Handles a frame that was written *to* the agent, so that a transcript of both directions can be replayed: updates
   * the state as `encode` would, and returns the command.
   */
  sent?(state: State, frame: Frame): Command | undefined
}

/** A process to start, as data. It never includes the prompt, which `encode` writes. */
export interface ProcessLaunch {
  kind: 'process'
  /** The program and its arguments; the configuration may replace the program. */
  argv: readonly [string, ...string[]]
  env: Readonly<Record<string, string>>
  /** Variables of this process to pass on: exact names, or prefixes ending in `*`. */
  passEnv: readonly string[]
  /** Variables of `env` whose JSON object is joined with the one that the environment already has for them. */
  joinedEnv?: readonly string[]
  /** The agent's settings file, which may name further variables to pass on. */
  passNamedIn?: NamedVariables
  /** Files that exist only for this process. `filePath` is a placeholder for their path in argv and env. */
  files?: readonly LaunchFile[]
}

/** Input that a program reads from files only, or that must not be visible on its command line. */
export interface LaunchFile {
  name: string
  text: string
  /** Set when `text` is encoded binary data, such as an image. */
  encoding?: 'base64'
}

/** A program with an HTTP API on this machine: it prints its port and serves an event stream. */
export interface ServerLaunch extends Omit<ProcessLaunch, 'kind'> {
  kind: 'server'
  /** Matches the output line that announces the port; its first group is the port. */
  listening: RegExp
  /** The path of the event stream. The stream starts with a greeting; no call is made before it. */
  events: string
  /** Explains in the error message why a server may lack the event stream. */
  absent?: string
  /** The server ends when its standard input closes, which is kept open until then. */
  endsWithInput?: true
  /** The stream may be opened again after it broke, because the codec then reads the state that it missed. */
  reopens?: true
  /** HTTP basic authentication: the user name, and the variables for it and for a password generated per run. */
  login: { user: string; userVariable: string; passwordVariables: readonly [string, ...string[]] }
}

/** A line that a built-in agent writes, `afterMs` after the previous one. */
export interface Beat {
  afterMs: number
  line: string
}

/** An agent without a process: a pure function from an input line to timed output lines. */
export interface BuiltinLaunch {
  kind: 'builtin'
  reply(line: string): readonly Beat[]
}

/**
 * A session on a remote server; no local process is started. Address and token are given as the names of variables, so
 * that neither is stored. `{id}` in a path is replaced by the session id.
 */
export interface RemoteLaunch {
  kind: 'remote'
  variables: { url: string; token: string }
  /** The call whose response contains the session id, and the body fields that variables override. */
  opening: { tag: string; fields: Readonly<Record<string, string>> }
  paths: {
    /** A WebSocket with live events; without it events are polled. */
    socket?: string
    /** Accepts `offset` and `limit`. */
    events: string
    state: string
    cancel: string
  }
  /** Field names of the server's responses, and the state of a running session. */
  names: { id: string; events: string; state: string; running: string }
  /** A prefix that ids have on some endpoints only: the event is the same. */
  idPrefix?: string
}

export type Launch = ProcessLaunch | ServerLaunch | BuiltinLaunch | RemoteLaunch

/** How an agent reports its model calls, and whether it limits them itself. */
export interface StepReports {
  /** `native`: the agent stops before the call that exceeds `maxSteps`. */
  limit?: 'native'
  /** `process`: a budget that the agent enforces covers all turns of its process, so each turn gets its own process. */
  budget?: 'process'
  /** `after_tools`: a call is reported after its tools have run, before the next call starts. */
  reported?: 'after_tools'
}

/** One way to run an agent: what to launch, and the codec for it. */
export interface LaunchRecipe<State = unknown> {
  capabilities: Capabilities
  codec: Codec<State>
  /** The agent has no memory between prompts, so a new process loses nothing. */
  stateless?: true
  /** The stream that carries the protocol; default stdout. */
  stream?: FrameStream
  /** Why the launch lacks commands of other agents' terminals; phrased as a sentence. */
  lacks?: Partial<Readonly<Record<Verb, string>>>
  /** A resumed conversation keeps the last model, so omitting the model does not restore the default. */
  keepsModel?: true
  /** The policies of its modes, for agents that accept a policy only at launch. */
  modes?: Readonly<Record<string, Pick<Policy, 'approval' | 'sandbox'>>>
  /** The agent runs a call with the input of the answer that allowed it. */
  changesInput?: true
  /** How model calls are reported, where that affects `maxSteps`. */
  steps?: StepReports
  /**
   * A protocol interrupt leaves programs running that a tool started in a separate session. They are terminated after
   * the turn.
   */
  leavesTools?: true
  /** The agent handles SIGTERM and SIGINT and exits with this code, so that its exit does not show the signal. */
  stopCode?: number
  /** Throws `unsupported_option` for a policy that cannot be enforced; never weakens the policy silently. */
  launch(start: Start): Launch
}

/** The properties of a call that are matched with the names of a tool list. */
export interface NamedCall {
  /** The agent's native name. */
  tool?: string | undefined
  toolKind?: ToolKind | undefined
}

/** Matches the calls of an agent with tool names: canonical (`execute`, `mcp:docs/search`) and native ones. */
export interface ToolNames {
  /** Whether `name` of a tool list refers to this call. */
  means(name: string, call: NamedCall): boolean
  /** The canonical name of a call, or its native name if there is none. */
  canonical(call: NamedCall): string
  /** The agent cannot remove every tool that `tools.available` leaves out, but asks before it uses one. */
  asksForUnlisted?: true
}

export interface Agent {
  id: string
  name: string
  /** If absent, tool lists are compared with native names and kinds. */
  tools?: ToolNames
  /** The newest version whose recordings pass; newer versions raise a notice. */
  testedVersion?: string
  /** The oldest version that was tested, if several were; older versions raise a notice. */
  oldestVersion?: string
  /** Requirements before the agent can work; a built-in agent has none. */
  setup?: AgentSetup
  launches: Partial<Record<LaunchKind, LaunchRecipe>>
  /** Returns the launches of a version that differs from the newest tested one; undefined if it does not differ. */
  atVersion?(version: string): AgentVariant | undefined
  /** How far this version is verified, if less than by runs of the program; phrased as a sentence without a subject. */
  unverified?: string
}

/** The properties of an agent that differ between versions of its program. */
export type AgentVariant = Pick<Agent, 'launches'> &
  Partial<Pick<Agent, 'name' | 'tools' | 'testedVersion' | 'oldestVersion' | 'unverified'>>

/** Hides the state type of a codec, so that recipes with different states fit one agent. */
export function recipe<State>(one: LaunchRecipe<State>): LaunchRecipe {
  return one as LaunchRecipe
}
