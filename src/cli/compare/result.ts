import { applyEntry } from '../../client/timeline/apply-entry.ts'
import { newTimeline } from '../../client/timeline/timeline.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Entry } from '../../model/index.ts'
import { finalAnswer } from '../turn/final-answer.ts'

/** The result of a turn: a fold over its entries. */
export class TurnResultFold {
  readonly #timeline = newTimeline()
  /** The files that the agent reported as changed. */
  readonly files = new Set<string>()
  end: TurnCompleted | undefined

  take(entry: Entry): void {
    const { event } = entry
    applyEntry(this.#timeline, entry)
    if (event.type === 'file.changed') this.files.add(event.path)
    if (event.type === 'turn.completed') this.end = event
  }

  /** With a line break at its end, if there is one. */
  get answer(): string {
    return finalAnswer(this.#timeline)
  }
}
