import type { FileChanged } from '../../model/events/tool.ts'
import type { Entry, EventType, Outcome } from '../../model/index.ts'

/** The length of a recap, in characters: what a prompt may have without crowding out the task. */
const RECAP_CHARS = 24_000
const PROMPT_CHARS = 2_000
const ANSWER_CHARS = 4_000
const MOST_FILES = 40

/** The events that a recap is made from. */
export const RECAPPED: ReadonlySet<EventType> = new Set<EventType>([
  'turn.started',
  'turn.steered',
  'text.completed',
  'file.changed',
  'plan.updated',
  'turn.completed',
])

/** One turn of a recap. */
interface TurnNote {
  turn: number
  prompts: string[]
  files: Map<string, FileChanged['change']>
  answer: string
  plan: readonly string[]
  outcome: Outcome | undefined
}

/** What another agent is told of a session. `omitted`: the number of earlier turns that are left out. */
export interface Recap {
  recap: string
  omitted: number
}

/**
 * Folds the log of a session into a text for another agent: of each turn its prompts, the files it changed, its plan, its
 * last message and its outcome. The newest turns come first into the room that there is, in the order of the log.
 */
export class RecapFold {
  /** The newest turns, which together have room in a recap. */
  readonly #notes: { note: TurnNote; chars: number }[] = []
  #chars = 0
  #turns = 0
  #open: TurnNote | undefined

  add({ turn, event }: Entry): void {
    switch (event.type) {
      case 'turn.started':
        this.#open = newNote(event.turn, event.prompt)
        return
      case 'turn.steered':
        this.#open?.prompts.push(shortened(event.prompt, PROMPT_CHARS))
        return
      case 'text.completed':
        if (this.#open && event.parent === undefined) this.#open.answer = shortened(event.text, ANSWER_CHARS)
        return
      case 'file.changed':
        this.#open?.files.set(event.path, event.change)
        return
      case 'plan.updated':
        if (this.#open && event.parent === undefined)
          this.#open.plan = event.items.map(({ status, text }) => `${status}: ${text}`)
        return
      case 'turn.completed':
        // A prompt that was dropped from the queue never began.
        if (turn !== undefined && turn === this.#open?.turn) this.#end(this.#open, event.outcome)
    }
  }

  #end(note: TurnNote, outcome: Outcome): void {
    this.#open = undefined
    this.#turns++
    note.outcome = outcome
    const chars = textOf(note).length
    this.#notes.push({ note, chars })
    this.#chars += chars
    while (this.#chars > RECAP_CHARS && this.#notes.length > 1) this.#chars -= this.#notes.shift()?.chars ?? 0
  }

  /** `why` says who worked on the session, and why the agent is told. */
  write(why: string): Recap {
    const omitted = this.#turns - this.#notes.length
    const kept = this.#notes.map(({ note }) => textOf(note)).join('\n\n')
    const left = omitted > 0 ? ` ${omitted} earlier ${omitted === 1 ? 'turn is' : 'turns are'} left out.` : ''
    const head = `[Recap by Mainstem: ${why} The recap is made from the log, by rule.${left} Files may have changed since: look before you rely on it.]`
    return { recap: `${head}\n\n${kept}\n\n[End of the recap. The next prompt:]`, omitted }
  }
}

function newNote(turn: number, prompt: string | undefined): TurnNote {
  const prompts = prompt === undefined ? [] : [shortened(prompt, PROMPT_CHARS)]
  return { turn, prompts, files: new Map(), answer: '', plan: [], outcome: undefined }
}

function textOf({ turn, prompts, files, answer, plan, outcome }: TurnNote): string {
  const changes = [...files].slice(-MOST_FILES).map(([path, change]) => `${change} ${path}`)
  const more = files.size - changes.length
  return [
    `Turn ${turn} (${outcome})`,
    ...prompts.map((prompt) => `Prompt: ${prompt}`),
    ...(plan.length > 0 ? [`Plan: ${plan.join('; ')}`] : []),
    ...(changes.length > 0 ? [`Files: ${changes.join(', ')}${more > 0 ? `, and ${more} more` : ''}`] : []),
    ...(answer === '' ? [] : [`Last message: ${answer}`]),
  ].join('\n')
}

/** The beginning of a text, without half of a character. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')} […]`
}
