import type { Event, FileChanged, RequestOpened } from '../../model/index.ts'

export type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>

interface ItemBase {
  /** Identifies the item in its timeline. */
  key: string
  /** The entry that created the item. */
  seq: number
  /** The time of that entry, in milliseconds since 1970. */
  at: number
  /** The turn of that entry. */
  turn: number | undefined
}

/** A prompt, or a text that steered the running turn. */
export interface PromptItem extends ItemBase {
  /** Narrows the union. */
  kind: 'prompt'
  /** The text of the prompt. */
  text: string
  /** The principal that sent it; absent in logs of older versions, and where the sender is unknown. */
  principal?: string
  /** How the agent took a text that arrived during its turn. */
  steered: EventOf<'turn.steered'>['effect'] | undefined
}

/** A message of the agent, or a piece of its reasoning. */
export interface MessageItem extends ItemBase {
  /** Narrows the union. */
  kind: 'text' | 'thinking'
  /** The text so far. */
  text: string
  /** `cut`: the message ended before it was complete. `discarded`: the agent repeats it as another item. */
  state: 'streaming' | 'done' | 'cut' | 'discarded'
}

/** A tool call with its result, its file changes and the work of its sub-agent. */
export interface ToolItem extends ItemBase {
  /** Narrows the union. */
  kind: 'tool'
  /** The id of the call in the events. */
  toolId: string
  /** The name of the tool. */
  name: string
  /** What the tool does, such as `execute` or `edit`. */
  toolKind: EventOf<'tool.started'>['kind']
  /** A short description of the call. */
  title: string | undefined
  /** The input of the call. */
  input: unknown
  /** The input as far as it was streamed, until the call starts. */
  draft: string
  /** The state of the call. A `draft` has not started. */
  status: 'draft' | 'running' | EventOf<'tool.completed'>['status']
  /** Who has to answer a request about the call before it runs. */
  waitsFor: RequestOpened['answeredBy']
  /** The output so far. */
  output: string
  /** The last progress message. */
  message: string | undefined
  /** The last progress, from 0 to 1. */
  progress: number | undefined
  /** The exit code of a command. */
  exitCode: number | undefined
  /** The duration that the agent reported. */
  durationMs: number | undefined
  /** Why the call failed. */
  error: string | undefined
  /** Who denied the call. */
  deniedBy: EventOf<'tool.completed'>['deniedBy']
  /** The blob with the whole output, if it is large. */
  blob: EventOf<'tool.completed'>['blob']
  /** The files that the call changed. */
  files: readonly FileChanged[]
  /** The sub-agent that the call started. */
  subagent: Subagent | undefined
  /** When the call began to run: at its start, or when it was allowed. */
  runningSince: number
  /** When the call ended. */
  endedAt: number | undefined
}

/** A sub-agent and the items of its work. The list grows in place; the item around it is replaced on each change. */
export interface Subagent {
  /** The id of the sub-agent in the events. */
  id: string
  /** Its name. */
  label: string
  /** Its model. */
  model: string | undefined
  /** True if the agent continues without waiting for it. */
  background: boolean
  /** The state of its work. */
  status: 'running' | EventOf<'subagent.completed'>['status']
  /** The last progress message. */
  message: string | undefined
  /** What it reported at its end. */
  summary: string | undefined
  /** Its messages, calls and requests. */
  items: TimelineItem[]
}

/** A request for approval or an answer. It is open while `resolved` and `withdrawn` are undefined. */
export interface RequestItem extends ItemBase {
  /** Narrows the union. */
  kind: 'request'
  /** The request. */
  request: RequestOpened
  /** The answer. */
  resolved: EventOf<'request.resolved'> | undefined
  /** Why the agent no longer waits for an answer. */
  withdrawn: EventOf<'request.withdrawn'> | undefined
}

/** The plan of a turn in its latest version. */
export interface PlanListItem extends ItemBase {
  /** Narrows the union. */
  kind: 'plan'
  /** The steps of the plan. */
  steps: EventOf<'plan.updated'>['items']
}

/** A notice, a limit, a compacted context, a failed hook or a frame that no rule covers. */
export interface NoticeItem extends ItemBase {
  /** Narrows the union. */
  kind: 'notice'
  /** How serious it is. */
  level: EventOf<'notice.raised'>['level']
  /** The code of the notice, or one such as `limit_rate`. */
  code: string
  /** The text in English. */
  message: string
  /** What the agent that continues the session is told of it, of a hand-over. */
  recap: string | undefined
}

/** Consecutive lines that the agent wrote outside of its protocol. */
export interface OutputItem extends ItemBase {
  /** Narrows the union. */
  kind: 'output'
  /** The stream of the lines. */
  stream: EventOf<'output.written'>['stream']
  /** The lines. */
  text: string
}

/** A changed file that belongs to no known call. */
export interface FileItem extends ItemBase {
  /** Narrows the union. */
  kind: 'file'
  /** The change. */
  file: FileChanged
}

/** The end of a turn. */
export interface OutcomeItem extends ItemBase {
  /** Narrows the union. */
  kind: 'outcome'
  /** The outcome, the usage and the result. */
  completed: EventOf<'turn.completed'>
}

/** The end of the session. */
export interface EndItem extends ItemBase {
  /** Narrows the union. */
  kind: 'end'
  /** Why it ended. */
  ended: EventOf<'session.ended'>
}

/** Anything that a person sees in a conversation. */
export type TimelineItem =
  | PromptItem
  | MessageItem
  | ToolItem
  | RequestItem
  | PlanListItem
  | NoticeItem
  | OutputItem
  | FileItem
  | OutcomeItem
  | EndItem
