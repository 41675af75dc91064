import type { Frame, FrameStream } from '../src/framing/frame.ts'
import type { LaunchKind } from '../src/model/index.ts'
import type { Conversation } from '../src/sessions/conversation.ts'
import { tell } from '../src/sessions/replay.ts'

/** What has to be known of a scene to play it: how long it is, and what the agent was told in it. */
export interface ScenePlan {
  lines: number
  told: readonly (readonly [number, string])[]
}

/** Every scene is a process of its own to the conversation: it starts, is told what it was told, and exits. */
export class Play {
  readonly #conversation: Conversation
  readonly #launch: LaunchKind
  readonly #scenes: readonly { lines: number; told: readonly { at: number; frame: Frame }[] }[]
  #scene = -1
  #lines = 0
  #at = 0
  #heard = 0

  constructor(
    conversation: Conversation,
    launch: LaunchKind,
    stream: FrameStream,
    plans: readonly ScenePlan[],
  ) {
    this.#conversation = conversation
    this.#launch = launch
    this.#scenes = plans.map(({ lines, told }) => ({
      lines,
      told: told.map(([at, text]) => ({ at, frame: { stream, text, value: JSON.parse(text) } })),
    }))
  }

  /** The next line is about to be read: what comes before it happens. */
  advance(): void {
    if (this.#at === this.#lines) this.#change()
    const told = this.#scenes[this.#scene]?.told ?? []
    for (let next = told[this.#heard]; next && next.at <= this.#at; next = told[++this.#heard]) {
      tell(this.#conversation, next.frame)
    }
    this.#at++
  }

  #change(): void {
    if (this.#scene >= 0) this.#conversation.exit({ code: 0 })
    this.#scene = (this.#scene + 1) % this.#scenes.length
    this.#lines = this.#scenes[this.#scene]?.lines ?? 0
    this.#at = 0
    this.#heard = 0
    this.#conversation.launch()
    if (this.#launch === 'oneshot') this.#conversation.begin(this.#conversation.accept())
  }
}
