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
import type { AgentSetup, NamedVariables } from './setup.ts'

/** Everything a codec may know when a native process starts. */
export interface Start {
  launch: LaunchKind
  cwd: string
  policy: Policy
  options: SessionOptions
  /** Counts the native processes of a session, because native ids restart with each process. */
  epoch: number
  /** The native session to go on with. */
  resume?: string
  /** The version of the installed program, where it is known. Launch and codec may differ by it. */
  version?: string
  /** The mode that it was in, by the agent's own name, where one was chosen; it stands above the policy's. */
  mode?: string
  /** What a process of one turn is started for. Its text goes in by `encode`; its pictures come with the start. */
  prompt?: { text: string; images: readonly Image[] }
  /** What this session's turns used so far, for agents that report running totals. */
  spent?: Usage
}

/** How a native process ended. `cause` is our part in it; `exit` when we had none. */
export interface Exit {
  code?: number
  signal?: string
  cause: Cause
  /** The process could not be started, or its connection broke. */
  error?: ErrorInfo
  /** The last lines of its standard error, bounded and without control characters; absent when it wrote none. */
  stderr?: string
}

/** What became of a frame. Every frame has one of these, and the counts add up. */
export type FrameVerdict = 'mapped' | 'unmapped' | 'malformed' | 'oversized'

/** The agent's own word on how its turn went; the session decides the outcome from it. */
export interface TurnVerdict extends Verdict {
  type: 'turn.verdict'
  result?: string
  structured?: unknown
  usage?: Usage
  nativeReason?: string
  /** The agent's own figure; the session's clock is used where it has none. */
  durationMs?: number
  /** The agent drops the prompt of a turn that it cuts from its context. */
  forgotten?: true
  data?: unknown
}

/** What a codec says: events, but for what only the session knows (turn numbers, outcomes, digests). */
export type Emitted =
  | Exclude<
      Event,
      { type: `session.${'started' | 'ended'}` | `turn.${string}` | 'request.opened' | 'request.resolved' }
    >
  | Omit<RequestOpened, 'inputDigest'>
  | { type: 'turn.started'; origin: 'prompt' | 'agent'; prompt?: string; promptId?: string }
  | { type: 'turn.steered'; prompt: string; effect: 'folded' | 'restarted' }
  | TurnVerdict

/** What goes to the agent. */
export type Write =
  | { kind: 'text'; text: string }
  | { kind: 'end' }
  | { kind: 'http'; method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; body?: unknown; tag?: string }

export interface Decoded {
  readonly verdict: FrameVerdict
  readonly emitted: readonly Emitted[]
  readonly writes: readonly Write[]
  /** A command the agent, or its protocol, cannot take. */
  readonly refused?: ErrorInfo
  /** When a change of settings takes effect, where that is not at once. `next_process`: only a new process can take it. */
  readonly applies?: 'next_turn' | 'next_process'
}

/** A codec is a fold: no clock, no random number, no I/O. It may mutate its own state in place. */
export interface Codec<State> {
  initial(start: Start): State
  /** What the agent wrote. */
  decode(state: State, frame: Frame): Decoded
  /** What we want of the agent. */
  encode(state: State, command: Command): Decoded
  /** The process is gone: settles whatever it left open. */
  end(state: State, exit: Exit): Decoded
  /** Whether the process has answered its handshake. Absent where nothing is sent before the first model call. */
  ready?(state: State): boolean
  /** Whether only the exit of the process is missing: it printed its one result and has no work in the background. */
  finished?(state: State): boolean
  /**
   * True while the agent owes an answer to an interrupt of ours: neither an acknowledgement nor a turn that ended as
   * interrupted has come. No turn begins on the process until then.
   */
  unconfirmed?(state: State): boolean
  /**
   * A frame that was written *to* the agent, so that a transcript of both directions can be replayed:
   * updates the state as `encode` would have, and tells which command it was.
   */
  sent?(state: State, frame: Frame): Command | undefined
}

/** What to start, as data. The prompt never appears here: it goes in by `encode`. */
export interface ProcessLaunch {
  kind: 'process'
  /** The program and its arguments; the program may be replaced by configuration. */
  argv: readonly [string, ...string[]]
  env: Readonly<Record<string, string>>
  /** Variables of ours that may pass to the child: exact names, or prefixes ending in `*`. */
  passEnv: readonly string[]
  /** Where the agent's own settings name further variables that may pass. */
  passNamedIn?: NamedVariables
  /** Written for this process alone and gone with it. `filePath` stands for its path, in argv and env. */
  files?: readonly LaunchFile[]
}

/** What a program takes from a file only, or what nobody else may read on its command line. */
export interface LaunchFile {
  name: string
  text: string
  /** `text` stands for bytes, of a picture. */
  encoding?: 'base64'
}

/** A program that speaks over HTTP, to this machine only: it says where it listens, and a stream of events answers. */
export interface ServerLaunch extends Omit<ProcessLaunch, 'kind'> {
  kind: 'server'
  /** The line, of either output, that says where it listens; its first group is the port. */
  listening: RegExp
  /** Where its events are. The stream begins with a greeting, and nothing is asked of the server before that. */
  events: string
  /** What it means that a server has no events there, for the error message. */
  absent?: string
  /** Its basic authentication: the name, and the variables that take it and a password made for this run alone. */
  login: { user: string; userVariable: string; passwordVariable: string }
}

/** A line that a built-in agent writes, `afterMs` after the one before it. */
export interface Beat {
  afterMs: number
  line: string
}

/** An agent without a process: a pure function from a line it is told to the lines it answers, paced by data. */
export interface BuiltinLaunch {
  kind: 'builtin'
  reply(line: string): readonly Beat[]
}

/**
 * A server elsewhere that runs the agent: nothing is started here. Its address and its token are named by the variables
 * that hold them, so that neither is written down. `{id}` in a path stands for the session.
 */
export interface RemoteLaunch {
  kind: 'remote'
  variables: { url: string; token: string }
  /** The call whose answer names the session, and the fields of its body that a variable decides where it is set. */
  opening: { tag: string; fields: Readonly<Record<string, string>> }
  paths: {
    /** A WebSocket with the events as they happen; without it they are fetched. */
    socket?: string
    /** Takes `offset` and `limit`. */
    events: string
    state: string
    cancel: string
  }
  /** The server's words: fields of its answers, and the one state in which a session goes on. */
  names: { id: string; events: string; state: string; running: string }
  /** Stands before an id at one address and not at another: the event is the same. */
  idPrefix?: string
}

export type Launch = ProcessLaunch | ServerLaunch | BuiltinLaunch | RemoteLaunch

/** How an agent reports its model calls, and whether it limits them itself. */
export interface StepReports {
  /** `native`: the agent itself stops before the call that exceeds `maxSteps`. */
  limit?: 'native'
  /** `process`: a budget that the agent enforces covers all turns of its process, so each turn gets its own process. */
  budget?: 'process'
  /** `after_tools`: a call is reported when its tools have run, when the next call is about to begin. */
  reported?: 'after_tools'
}

/** One way to run an agent: what to start, and the codec that speaks with it. */
export interface LaunchRecipe<State = unknown> {
  capabilities: Capabilities
  codec: Codec<State>
  /** Each prompt is answered without the ones before, so that a new process loses nothing. */
  stateless?: true
  /** Where its protocol is spoken; stdout unless it says otherwise. */
  stream?: FrameStream
  /** A resumed conversation keeps the model that was set last, so that leaving it out does not bring the default back. */
  keepsModel?: true
  /** What its modes stand for, where a process is told its policy when it starts and nothing later. */
  modes?: Readonly<Record<string, Pick<Policy, 'approval' | 'sandbox'>>>
  /** How its model calls are reported, where that matters to `maxSteps`. */
  steps?: StepReports
  /**
   * An interrupt by protocol leaves programs running that a tool started in a session of their own. They are ended
   * when the turn has ended.
   */
  leavesTools?: true
  /** Refuses with `unsupported_option` what cannot be enforced; never silently weaker than asked. */
  launch(start: Start): Launch
}

/** What is known of a call that is to be matched with the names of a tool list. */
export interface NamedCall {
  /** By the agent's own name. */
  tool?: string | undefined
  toolKind?: ToolKind | undefined
}

/** Matches the calls of an agent with tool names: canonical (`execute`, `mcp:docs/search`) and native ones. */
export interface ToolNames {
  /** Whether `name`, from a tool list, stands for this call. */
  means(name: string, call: NamedCall): boolean
  /** The canonical name of a call; its native one where there is none. */
  canonical(call: NamedCall): string
}

export interface Agent {
  id: string
  name: string
  /** Absent: names of tool lists are compared with native names and kinds as they are. */
  tools?: ToolNames
  /** The newest version whose recordings pass; newer ones get a notice. */
  testedVersion?: string
  /** What it needs before it can work; a built-in agent needs nothing. */
  setup?: AgentSetup
  launches: Partial<Record<LaunchKind, LaunchRecipe>>
  /** Why a launch is not offered, as the end of a sentence. */
  missing?: Partial<Record<LaunchKind, string>>
  /** The launches of a version that differs from the newest tested one; nothing where it does not. */
  atVersion?(version: string): Pick<Agent, 'launches' | 'missing'> | undefined
}

/** Hides a codec's private state, so that recipes of different states fit one agent. */
export function recipe<State>(one: LaunchRecipe<State>): LaunchRecipe {
  return one as LaunchRecipe
}
