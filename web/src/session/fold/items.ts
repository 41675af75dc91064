import type { Event, SessionRecord } from 'mainstem/client'

export type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>
export type RequestOpened = EventOf<'request.opened'>
export type FileChange = EventOf<'file.changed'>
export type Outcome = NonNullable<SessionRecord['lastOutcome']>

interface ItemBase {
  key: string
  /** The entry that created the item. */
  seq: number
  at: number
  turn: number | undefined
}

/** A prompt of a person, or a word to the running turn. */
export interface PromptItem extends ItemBase {
  kind: 'prompt'
  text: string
  steered: 'folded' | 'restarted' | undefined
}

export interface MessageItem extends ItemBase {
  kind: 'text' | 'thinking'
  text: string
  state: 'streaming' | 'done' | 'cut' | 'discarded'
}

export interface ToolItem extends ItemBase {
  kind: 'tool'
  toolId: string
  name: string
  toolKind: EventOf<'tool.started'>['kind']
  title: string | undefined
  input: unknown
  /** The input as far as it was streamed, until the call starts. */
  draft: string
  status: 'draft' | 'running' | EventOf<'tool.completed'>['status']
  output: string
  message: string | undefined
  progress: number | undefined
  exitCode: number | undefined
  durationMs: number | undefined
  error: string | undefined
  deniedBy: EventOf<'tool.completed'>['deniedBy']
  blob: EventOf<'tool.completed'>['blob']
  files: readonly FileChange[]
  subagent: Subagent | undefined
  endedAt: number | undefined
}

/** A sub-agent and the items of its work. The list grows in place; the item around it is replaced on each change. */
export interface Subagent {
  id: string
  label: string
  model: string | undefined
  background: boolean
  status: 'running' | EventOf<'subagent.completed'>['status']
  message: string | undefined
  summary: string | undefined
  items: Item[]
}

export interface RequestItem extends ItemBase {
  kind: 'request'
  request: RequestOpened
  resolved: EventOf<'request.resolved'> | undefined
  withdrawn: EventOf<'request.withdrawn'> | undefined
}

export interface PlanItem extends ItemBase {
  kind: 'plan'
  steps: EventOf<'plan.updated'>['items']
}

export interface NoticeItem extends ItemBase {
  kind: 'notice'
  level: 'info' | 'warning' | 'error'
  code: string
  message: string
}

/** Lines outside of the agent's protocol, as one block. */
export interface OutputItem extends ItemBase {
  kind: 'output'
  stream: 'stdout' | 'stderr'
  text: string
}

export interface FileItem extends ItemBase {
  kind: 'file'
  file: FileChange
}

export interface OutcomeItem extends ItemBase {
  kind: 'outcome'
  completed: EventOf<'turn.completed'>
}

export interface EndItem extends ItemBase {
  kind: 'end'
  ended: EventOf<'session.ended'>
}

export type Item =
  | PromptItem
  | MessageItem
  | ToolItem
  | RequestItem
  | PlanItem
  | NoticeItem
  | OutputItem
  | FileItem
  | OutcomeItem
  | EndItem
