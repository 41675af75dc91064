import type { Applied, BoundAnswer, Image } from '../model/index.ts'
import type { Claim } from './claim.ts'
import type { TurnRead } from './delivery.ts'
import type { Change } from './setup.ts'

/** The agent's conversation: its native id, once it can be resumed, and whether its process waits for a prompt. */
export interface ConversationState {
  nativeSessionId?: string | undefined
  idle: boolean
}

/** What a client may ask of a session, whether it runs in this process or on another node. */
export interface SessionHandle {
  readonly id: string
  /** The turn's number, once it is durable; the turn goes on in the background. */
  prompt(text: string, images?: readonly Image[], claims?: readonly Claim[]): Promise<number>
  /** A prompt that joins the open turn. */
  steer(text: string, claims?: readonly Claim[]): Promise<void>
  change(change: Change, claims?: readonly Claim[]): Promise<Applied>
  answer(answer: BoundAnswer, claims?: readonly Claim[]): Promise<void>
  /** Stops the open turn, or the one of that number, and settles when it has ended. */
  interrupt(turn?: number, claims?: readonly Claim[]): Promise<void>
  /** Stops the open turn and drops all that waits; true when that ended any of them. */
  interruptAll(): Promise<boolean>
  /** Continues another native conversation from the next prompt on. */
  adopt(nativeSessionId: string): Promise<void>
  /** Records what a client has read. */
  delivered(reads: readonly TurnRead[]): Promise<void>
  /** Settles when the turn has ended. */
  ended(turn: number): Promise<void>
  describe(): Promise<ConversationState>
}
