import type { Timers } from '../drivers/driver.ts'
import type { Applied, BoundAnswer, Image, SessionRecord } from '../model/index.ts'
import { parseField } from '../model/text/parse.ts'
import { recordOf } from '../reading/session-logs.ts'
import type { CommandContext } from '../sessions/command-context.ts'
import {
  parseAnswer,
  parseChange,
  parseImages,
  parseName,
  parseNativeId,
  parsePrompt,
} from '../sessions/commands.ts'
import type { Change } from '../sessions/process/setup.ts'
import type { ConversationState, SessionHandle } from '../sessions/session-handle.ts'
import type { TurnRead } from '../sessions/turns/delivery.ts'
import { until } from '../sessions/with-timeout.ts'
import type { Store } from '../stores/store.ts'
import type { Router } from './router.ts'
import { CommandResults } from './wire.ts'

/** The interval of reads of the record while a caller waits for a turn and the log is busy. */
const RECORD_MS = 250
/** The record is read again after a wait of this length for the log. */
const WAIT_MS = 5_000

const NEVER = new AbortController().signal

/** A session that another node runs: every command goes to its owner. */
export class RoutedSession implements SessionHandle {
  readonly id: string
  readonly #router: Router
  readonly #store: Store
  readonly #timers: Timers

  constructor(id: string, router: Router, store: Store, timers: Timers) {
    this.id = id
    this.#router = router
    this.#store = store
    this.#timers = timers
  }

  async prompt(text: string, images: readonly Image[] = [], context?: CommandContext): Promise<number> {
    const command = { type: 'prompt' as const, text: parsePrompt(text), images: [...parseImages(images)] }
    const result = await this.#router.send(this.id, command, context)
    return parseField(CommandResults.prompt, result, 'result')
  }

  async steer(text: string, context?: CommandContext): Promise<void> {
    await this.#router.send(this.id, { type: 'steer', text: parsePrompt(text) }, context)
  }

  async change(change: Change, context?: CommandContext): Promise<Applied> {
    const command = { type: 'change' as const, change: parseChange(change) }
    const result = await this.#router.send(this.id, command, context)
    return parseField(CommandResults.change, result, 'result')
  }

  async rename(name: string | null, context?: CommandContext): Promise<void> {
    await this.#router.send(this.id, { type: 'rename', name: parseName(name) }, context)
  }

  async answer(answer: BoundAnswer, context?: CommandContext): Promise<void> {
    await this.#router.send(this.id, { type: 'answer', answer: parseAnswer(answer) }, context)
  }

  async interrupt(turn?: number, context?: CommandContext): Promise<void> {
    const stopped = turn ?? currentTurn(await recordOf(this.#store, this.id))
    if (stopped === undefined) return
    await this.#router.send(this.id, { type: 'interrupt', turn: stopped }, context)
  }

  async interruptAll(context?: CommandContext): Promise<boolean> {
    const { turns: through } = await recordOf(this.#store, this.id)
    const result = await this.#router.send(this.id, { type: 'interrupt_all', through }, context)
    return parseField(CommandResults.interrupt_all, result, 'result')
  }

  async adopt(id: string, context?: CommandContext): Promise<void> {
    const command = { type: 'adopt' as const, nativeSessionId: parseNativeId(id) }
    await this.#router.send(this.id, command, context)
  }

  async delivered(reads: readonly TurnRead[]): Promise<void> {
    await this.#router.send(this.id, { type: 'deliver', reads: [...reads] })
  }

  async describe(): Promise<ConversationState> {
    return parseField(
      CommandResults.describe,
      await this.#router.send(this.id, { type: 'describe' }),
      'result',
    )
  }

  /** Follows the record: a turn has ended when it is neither open nor in the queue. */
  async ended(turn: number): Promise<void> {
    for (;;) {
      const { turns, openTurn, queue, head } = await recordOf(this.#store, this.id)
      if (turns >= turn && openTurn !== turn && queue.every((waiting) => waiting.turn !== turn)) return
      await until(this.#timers, WAIT_MS, NEVER, (signal) => this.#store.changed(this.id, head, signal))
      await this.#timers.sleep(RECORD_MS, NEVER)
    }
  }
}

/** The open turn, or the continuation that waits. */
function currentTurn({ openTurn, queue }: SessionRecord): number | undefined {
  return openTurn ?? queue.find(({ continuation }) => continuation)?.turn
}
