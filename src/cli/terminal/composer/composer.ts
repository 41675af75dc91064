import type { Key } from '../key-reader.ts'
import type { Keyboard, KeyListener } from '../keyboard.ts'
import { type Draft, type Intent, NEW_DRAFT, remember, replaced, sent, typed } from './draft.ts'

/** What a composer does with a text. A rejected promise keeps the text. */
export interface ComposerActions {
  /** Sends a prompt, which runs after those that wait. */
  queue(text: string): Promise<void>
  /** Sends a text to the turn that runs. */
  steer(text: string): Promise<void>
  /** Runs a `/` command; undefined if the text is none. */
  command(text: string): Promise<void> | undefined
  interrupt(): void
  leave(): void
  /** The texts that the beginning of a command can become. */
  completions(text: string): readonly string[]
  /** Reports why a text was not sent. */
  failed(thrown: unknown): void
  /** The draft changed, or was sent. */
  changed(): void
}

/**
 * A line in which prompts are written while the agent works. It has the keyboard only while no request is open: a key
 * goes to the draft or to the request, never to both, and nothing that is written here answers a request.
 */
export class Composer implements Disposable {
  readonly #keyboard: Keyboard
  readonly #actions: ComposerActions
  #draft = NEW_DRAFT
  #listening: Disposable | undefined
  #sending = 0

  constructor(keyboard: Keyboard, actions: ComposerActions) {
    this.#keyboard = keyboard
    this.#actions = actions
    this.resume()
  }

  get draft(): Draft {
    return this.#draft
  }

  /** Whether a text is written here, or is on its way. */
  get isBusy(): boolean {
    return this.#sending > 0 || this.#draft.text.trim() !== ''
  }

  /** Takes the keyboard again. A job in the background gets no keys, and is not stopped for asking. */
  resume(): void {
    this.#listening ??= this.#keyboard.overhear(this.#listener)
  }

  /** Leaves the keyboard to a request. The draft is kept. */
  pause(): void {
    this.#listening?.[Symbol.dispose]()
    this.#listening = undefined
  }

  /** Adds a prompt to the history. */
  remember(prompt: string): void {
    this.#draft = remember(this.#draft, prompt)
  }

  [Symbol.dispose](): void {
    this.pause()
  }

  readonly #listener: KeyListener = {
    keys: (keys) => {
      for (const [index, key] of keys.entries()) this.#type(key, index === keys.length - 1)
      this.#actions.changed()
    },
    redraw: () => this.#actions.changed(),
  }

  #type(key: Key, isLast: boolean): void {
    const { draft, intent } = typed(this.#draft, key, isLast)
    this.#draft = draft
    if (intent) this.#perform(intent)
  }

  #perform(intent: Intent): void {
    const { text } = this.#draft
    const actions = this.#actions
    const perform: Readonly<Record<Intent, () => void>> = {
      interrupt: () => actions.interrupt(),
      leave: () => actions.leave(),
      complete: () => this.#complete(),
      queue: () => this.#send(actions.command(text) ?? actions.queue(text)),
      steer: () => {
        if (text.trim() !== '') this.#send(actions.steer(text))
      },
    }
    perform[intent]()
  }

  #send(sending: Promise<void>): void {
    const { text } = this.#draft
    this.#draft = sent(this.#draft)
    this.#sending++
    sending
      .catch((thrown: unknown) => {
        this.#actions.failed(thrown)
        // Unless something else is written by now.
        if (this.#draft.text === '') this.#draft = replaced(this.#draft, text)
      })
      .finally(() => {
        this.#sending--
        this.#actions.changed()
      })
  }

  /** Completes as far as all completions agree. */
  #complete(): void {
    const { text } = this.#draft
    const [first, ...others] = this.#actions.completions(text)
    if (first === undefined) return
    let length = first.length
    for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
    const common = first.slice(0, length)
    this.#draft = replaced(this.#draft, others.length === 0 ? `${common} ` : common)
  }
}
