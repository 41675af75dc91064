import type { Applied, BoundAnswer, Image } from '../model/index.ts'
import type { CommandContext } from './command-context.ts'
import type { Change } from './process/setup.ts'
import type { TurnRead } from './turns/delivery.ts'

/** The agent's conversation: its native id, once it can be resumed, and whether its process waits for a prompt. */
export interface ConversationState {
  nativeSessionId?: string | undefined
  idle: boolean
}

/** The commands of a session, which runs in this process or on another node. */
export interface SessionHandle {
  readonly id: string
  /** Returns the number of the turn once it is durable. The turn runs in the background. */
  prompt(text: string, images?: readonly Image[], context?: CommandContext): Promise<number>
  /** Adds a prompt to the open turn. */
  steer(text: string, context?: CommandContext): Promise<void>
  change(change: Change, context?: CommandContext): Promise<Applied>
  /** Gives the session a name; `null` removes it. */
  rename(name: string | null, context?: CommandContext): Promise<void>
  answer(answer: BoundAnswer, context?: CommandContext): Promise<void>
  /** Stops the open turn, or the turn with this number. Settles when it has ended. */
  interrupt(turn?: number, context?: CommandContext): Promise<void>
  /** Stops the open turn and drops the queue. Returns true if this ended a turn. */
  interruptAll(context?: CommandContext): Promise<boolean>
  /** Continues another native conversation from the next prompt on. */
  adopt(nativeSessionId: string, context?: CommandContext): Promise<void>
  /** Records what a client has read. */
  delivered(reads: readonly TurnRead[]): Promise<void>
  /** Settles when the turn has ended. */
  ended(turn: number): Promise<void>
  describe(): Promise<ConversationState>
}
