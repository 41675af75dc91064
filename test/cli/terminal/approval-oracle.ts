interface Press {
  at: number
  /** What was typed at once. */
  keys: string
  /** The keyboard repeated it, because a key was held down. */
  isRepeat: boolean
}

/** A tool that ran, and when the screen showed the answer. */
export interface Approval {
  at: number
  tool: string
  subject: string
}

const NOT_YET = Number.POSITIVE_INFINITY
const NEVER = Number.NEGATIVE_INFINITY

/** What a terminal showed and got, in milliseconds of one clock. */
export class Recording {
  rows: number
  /** The lines on the screen, after each change. */
  readonly screens: { at: number; lines: ReadonlySet<string> }[] = []
  readonly presses: Press[] = []
  /** The lines that report how a request was answered. */
  readonly answers: { at: number; text: string }[] = []
  readonly #now: () => number

  constructor(rows: number, now: () => number = () => performance.now()) {
    this.rows = rows
    this.#now = now
  }

  screen(text: string): void {
    const at = this.#now()
    const all = text.split('\n').map((line) => line.trim())
    this.screens.push({ at, lines: new Set(all.slice(-this.rows)) })
    const answers = all.filter((line) => line.startsWith('→ '))
    for (const line of answers.slice(this.answers.length)) this.answers.push({ at, text: line })
  }

  press(keys: string, isRepeat = false): void {
    this.presses.push({ at: this.#now(), keys, isRepeat })
  }

  /** What was on the screen may be gone. */
  resize(rows: number): void {
    this.rows = rows
    this.screens.push({ at: this.#now(), lines: new Set() })
  }
}

/** A request has to be on the screen this long before a key may allow it. */
const SHOWN_MS = 400
/** Other keys may not follow within this time. */
const ALONE_MS = 150
/** How much later than the program the terminal may show the screen, or the program read a key. */
const SLACK_MS = 200

/**
 * The approvals that no key explains. A key explains an approval if it was typed alone, all of the input had been on the
 * screen, and the line that names the request was there for long enough before it, without other keys or a new size.
 * Each key explains one approval, and one that a keyboard repeats explains none.
 */
export function unexplained(recording: Recording, approvals: readonly Approval[]): Approval[] {
  const used = new Set<Press>()
  return approvals.filter((approval) => {
    const press = recording.presses.find((one) => !used.has(one) && explains(recording, one, approval))
    if (press) used.add(press)
    return !press
  })
}

function explains(recording: Recording, press: Press, approval: Approval): boolean {
  if (press.isRepeat || press.at > approval.at || !/^(?:y+|s+)$/.test(press.keys)) return false
  const { presses } = recording
  const index = presses.indexOf(press)
  const before = presses[index - 1]?.at ?? NEVER
  const next =
    presses.slice(index + 1).find(({ keys }) => [...keys].some((key) => key !== press.keys[0]))?.at ?? NOT_YET
  const since = Math.max(before, namedSince(recording, press, approval))
  return (
    press.at - since >= SHOWN_MS - SLACK_MS &&
    next - press.at >= ALONE_MS - SLACK_MS / 2 &&
    wasShown(recording, press, approval)
  )
}

/** Since when the line that names the request has been on the screen. */
function namedSince({ screens }: Recording, press: Press, { tool, subject }: Approval): number {
  const name = `${tool}  ${subject}`
  let since = NOT_YET
  for (const { at, lines } of screens) {
    if (at > press.at) break
    const isNamed = [...lines].some((line) => line === name || line.startsWith(`${name} · `))
    since = isNamed ? Math.min(since, at) : NOT_YET
  }
  return since
}

/** Whether every line of the input was on the screen at some time before. */
function wasShown({ screens }: Recording, press: Press, approval: Approval): boolean {
  const missing = new Set(inputOf(approval))
  for (const { at, lines } of screens) {
    if (at > press.at) break
    for (const line of missing) if (lines.has(line)) missing.delete(line)
  }
  return missing.size === 0
}

/** How many lines the agent of these tests writes to a file. */
const WRITTEN_LINES = 100

function inputOf({ tool, subject }: Approval): string[] {
  if (tool === 'Bash') return [`command: ${subject}`]
  const lines = Array.from({ length: WRITTEN_LINES }, (_, index) => `line ${index + 1}`)
  return [`${subject}  +${WRITTEN_LINES} −0`, ...lines.map((line) => `+ ${line}`)]
}
