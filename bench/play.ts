import type { Frame, FrameStream } from '../src/framing/frame.ts'
import type { LaunchKind } from '../src/model/index.ts'
import type { Conversation } from '../src/sessions/machine/conversation.ts'
import { applySent } from '../src/sessions/machine/replay.ts'

/** The number of lines of a scene, and the lines that were sent to the agent meanwhile. */
export interface ScenePlan {
  lines: number
  told: readonly (readonly [number, string])[]
}

/** Plays scenes as recorded. Each is a separate session: it starts, receives its commands and exits. */
export class Play {
  /** The number of frames that were not mapped. */
  strange = 0
  readonly #open: () => Conversation
  readonly #launch: LaunchKind
  readonly #scenes: readonly { lines: number; told: readonly { at: number; frame: Frame }[] }[]
  #conversation: Conversation | undefined
  #scene = -1
  #at = 0
  #heard = 0
  /** The number of lines until the next command or the end of the scene. */
  #undisturbed = 0

  constructor(
    open: () => Conversation,
    launch: LaunchKind,
    stream: FrameStream,
    plans: readonly ScenePlan[],
  ) {
    this.#open = open
    this.#launch = launch
    this.#scenes = plans.map(({ lines, told }) => ({
      lines,
      told: told.map(([at, text]) => ({ at, frame: { stream, text, value: JSON.parse(text) } })),
    }))
  }

  /** Looks for the next command once per group of lines, because the search must not count in the measurement. */
  hear(batch: readonly Frame[]): void {
    for (let at = 0; at < batch.length; ) {
      const conversation = this.#undisturbed > 0 && this.#conversation ? this.#conversation : this.#proceed()
      const end = Math.min(batch.length, at + this.#undisturbed)
      this.#undisturbed -= end - at
      for (; at < end; at++) {
        const frame = batch[at]
        if (frame) conversation.frame(frame)
      }
    }
  }

  /** The last line was read. */
  finish(): void {
    const conversation = this.#conversation
    if (!conversation) return
    conversation.exit({ code: 0 })
    const { unmapped, malformed } = conversation.coverage
    this.strange += unmapped + malformed
    this.#conversation = undefined
    this.#undisturbed = 0
  }

  #proceed(): Conversation {
    const before = this.#scenes[this.#scene]
    const isOver = !before || this.#at === before.lines
    const conversation = this.#conversation && !isOver ? this.#conversation : this.#change()
    const { lines, told } = this.#scenes[this.#scene] ?? { lines: 0, told: [] }
    for (let next = told[this.#heard]; next?.at === this.#at; next = told[++this.#heard]) {
      applySent(conversation, next.frame)
    }
    const until = told[this.#heard]?.at ?? lines
    this.#undisturbed = until - this.#at
    this.#at = until
    return conversation
  }

  #change(): Conversation {
    this.finish()
    this.#scene = (this.#scene + 1) % this.#scenes.length
    this.#at = 0
    this.#heard = 0
    const conversation = this.#open()
    conversation.open()
    conversation.launch()
    if (this.#launch === 'oneshot') conversation.begin(conversation.accept())
    this.#conversation = conversation
    return conversation
  }
}
