import type { Frame, FrameStream } from '../src/framing/frame.ts'
import type { LaunchKind } from '../src/model/index.ts'
import type { Conversation } from '../src/sessions/conversation.ts'
import { tell } from '../src/sessions/replay.ts'

/** What has to be known of a scene to play it: how long it is, and what the agent was told in it. */
export interface ScenePlan {
  lines: number
  told: readonly (readonly [number, string])[]
}

/** Every scene is a session of its own, as it was recorded: it starts, is told what it was told, and exits. */
export class Play {
  /** Of all sessions. */
  frames = 0
  /** Frames that were not understood. */
  strange = 0
  readonly #open: () => Conversation
  readonly #launch: LaunchKind
  readonly #scenes: readonly { lines: number; told: readonly { at: number; frame: Frame }[] }[]
  #conversation: Conversation | undefined
  #scene = -1
  #lines = 0
  #at = 0
  #heard = 0

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

  /** The next line is about to be read: what comes before it happens. */
  advance(): Conversation {
    const conversation = this.#conversation && this.#at < this.#lines ? this.#conversation : this.#change()
    const told = this.#scenes[this.#scene]?.told ?? []
    for (let next = told[this.#heard]; next && next.at <= this.#at; next = told[++this.#heard]) {
      tell(conversation, next.frame)
    }
    this.#at++
    return conversation
  }

  /** The last line was read. */
  finish(): void {
    const conversation = this.#conversation
    if (!conversation) return
    conversation.exit({ code: 0 })
    const { frames, unmapped, malformed } = conversation.coverage
    this.frames += frames
    this.strange += unmapped + malformed
    this.#conversation = undefined
  }

  #change(): Conversation {
    this.finish()
    this.#scene = (this.#scene + 1) % this.#scenes.length
    this.#lines = this.#scenes[this.#scene]?.lines ?? 0
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
