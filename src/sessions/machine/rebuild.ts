import type { Write } from '../../agents/agent.ts'
import type { LastingRuns, OutputPosition } from '../../drivers/driver.ts'
import { MainstemError } from '../../model/index.ts'
import type { LargeValue } from '../../model/text/large-value.ts'
import type { JournalFrame } from '../../stores/store.ts'
import { type Change, changed, type PromptCommand, type Settings } from '../process/setup.ts'
import type { Conversation } from './conversation.ts'
import { READ, SENT, type Sent, type Started, type TurnStart, type Written } from './sent.ts'

/** A frame of the journal as it was decoded, where the journal hides a part of it. */
export interface KeptFrame {
  text: string
  large?: readonly LargeValue[] | undefined
}

/** A write of the journal that the agent may not have. */
export interface PendingWrite {
  /** The number of the write, from 0. */
  number: number
  write: Write
  /** The request that it answers. */
  requestId: string | undefined
}

/** Whether a pending write is made now; otherwise it is only counted. */
export interface SettledWrite {
  write: Write
  isMade: boolean
  /** The agent may have it: what it reports next tells. */
  isWatched?: true
}

export interface RebuildSetup {
  runs: Pick<LastingRuns, 'frame'>
  /** The frames that the journal hides in part. */
  kept: ReadonlyMap<number, string>
  /** The number of the first write that the agent may not have. */
  firstWrite: number
}

/**
 * Folds the journal of a process into the conversation of its next owner. What the conversation emits meanwhile is in
 * the log already.
 */
export class Rebuild {
  /** How far the output was read. */
  position: OutputPosition = { stdout: 0, stderr: 0 }
  /** The writes from `firstWrite` on. */
  pending: readonly PendingWrite[] = []
  lastPrompt: PromptCommand | undefined
  /** The turn that began last. */
  turn: TurnStart | undefined
  /** The process was told to end. */
  isClosing = false
  /** It must not take another prompt before it is replaced. */
  isStale = false
  settings: Settings
  #upcoming: Settings | undefined
  readonly #conversation: Conversation
  readonly #runs: RebuildSetup['runs']
  readonly #kept: ReadonlyMap<number, string>
  readonly #firstWrite: number
  #writes = 0

  constructor(conversation: Conversation, { start }: Started, { runs, kept, firstWrite }: RebuildSetup) {
    this.#conversation = conversation
    this.#runs = runs
    this.#kept = kept
    this.#firstWrite = firstWrite
    this.settings = start
    conversation.restart(start)
  }

  take({ frame, stream, text }: JournalFrame): void {
    if (stream === READ) this.#read(JSON.parse(text))
    else if (stream === SENT) this.#sent(JSON.parse(this.#whole(frame, text).text))
    else this.#decode(stream, this.#whole(frame, text))
  }

  /** Call when a request is opened: an answer that waits belongs to an earlier one with its id. */
  opened(requestId: string): void {
    for (const pending of this.pending) if (pending.requestId === requestId) pending.requestId = REPLACED
  }

  /** A server has what it has answered. */
  #read(position: OutputPosition): void {
    this.position = position
    const { calls } = position
    if (calls !== undefined) this.pending = this.pending.filter(({ number }) => number >= calls)
  }

  #decode(stream: string, { text, large }: KeptFrame): void {
    this.#conversation.frame({ ...this.#runs.frame(stream, text), ...(large && { large }) })
  }

  #whole(frame: number, text: string): KeptFrame {
    const kept = this.#kept.get(frame)
    return kept === undefined ? { text } : JSON.parse(kept)
  }

  #sent(sent: Sent): void {
    if ('start' in sent || 'exited' in sent)
      throw new MainstemError('storage_failed', 'the journal of the process continues after its end')
    if ('cause' in sent) this.#conversation.setCause(sent.cause, sent.why)
    else this.#written(sent)
  }

  #written({ command, writes, begins }: Written): void {
    if (begins) {
      this.turn = begins
      if (command) this.#begin(begins, command)
    }
    if (command?.type === 'answer') this.#conversation.answer(command)
    else if (command) {
      const { applies = 'now' } = this.#conversation.command(command)
      if (command.type === 'close') this.isClosing = true
      if (command.type === 'set_model' || command.type === 'set_policy') this.#change(command, applies)
    }
    const pending: PendingWrite[] = []
    for (const write of writes) {
      const requestId = command?.type === 'answer' ? command.requestId : undefined
      const number = this.#writes++
      if (number >= this.#firstWrite) pending.push({ number, write, requestId })
    }
    if (pending.length > 0) this.pending = [...this.pending, ...pending]
  }

  #begin({ turn }: TurnStart, command: NonNullable<Written['command']>): void {
    if (command.type !== 'prompt') return
    this.settings = this.#upcoming ?? this.settings
    this.#upcoming = undefined
    this.lastPrompt = command
    this.#conversation.begin(turn, command.text, command.promptId)
  }

  #change(command: Change, applies: string): void {
    if (applies === 'next_process') this.isStale = true
    if (applies !== 'now' && this.#conversation.turn !== undefined)
      this.#upcoming = changed(this.#upcoming ?? this.settings, command)
    else this.settings = changed(this.settings, command)
  }
}

/** Marks an answer whose request was replaced, so that it must not reach the agent. */
export const REPLACED = '\0replaced'

/** The first step of a process in its journal. Throws if it is not the start of one that outlives its owner. */
export function startedIn(frame: JournalFrame | undefined, kept: ReadonlyMap<number, string>): Started {
  const text = frame && (kept.has(frame.frame) ? JSON.parse(kept.get(frame.frame) ?? '').text : frame.text)
  const sent: Sent | undefined = frame?.stream === SENT ? JSON.parse(text) : undefined
  if (sent && 'start' in sent && sent.before) return sent
  throw new MainstemError('storage_failed', 'the journal does not have the start of the process')
}
