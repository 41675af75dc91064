import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pick, type Random, randomFrom } from '../../../faults/random.ts'
import type { Home } from '../mainstem-process.ts'
import { type Approval, type Recording, unexplained } from './approval-oracle.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'
import { type Act, readLog, recordingOf } from './terminal-log.ts'

const SCENES = ['later', 'later-twice', 'later-parallel', 'later-write'] as const

/** Removes the line of a draft. */
const CLEAR = '\x15'

/** More lines than anybody types here. */
const LONGEST_DRAFT = 30

/** Longer than a request needs before its keys count. */
const PATIENT_MS = 1500

export interface RandomRun {
  /** The tools that ran. */
  approvals: readonly Approval[]
  /** Those that no key explains. */
  unintended: readonly Approval[]
}

/**
 * Runs an agent in a terminal, types at random around its requests, and judges every tool that ran by what was on the
 * screen before the key. The seed decides what is typed, and the load of the machine when it arrives.
 */
export async function randomRun(home: Home, seed: number): Promise<RandomRun> {
  const random = randomFrom(seed)
  const cwd = join(home.path, `random-${seed}`)
  mkdirSync(cwd)
  const log = join(cwd, 'terminal')
  const rows = pick(random, [16, 40])
  const scene = pick(random, SCENES)
  const columns = pick(random, [60, 100])
  await using shown = PseudoTerminal.mainstem(['run', 'claude', scene], {
    cwd,
    env: home.env,
    columns,
    rows,
    log,
  })
  const typist = new Typist(shown, random)
  await shown.shows('thinking')
  const steps = 6 + Math.floor(random() * 8)
  const asked = Math.floor(random() * 3)
  for (let step = 0; step < steps; step++) {
    const typed = typist.step()
    if (step === asked) writeFileSync(join(cwd, 'ask-now'), '')
    await typed
  }
  await typist.denyRest()
  const recording = recordingOf(readLog(log), { columns, rows }, typist.acts)
  const approvals = approvalsIn(join(cwd, 'ran.log'), recording)
  return { approvals, unintended: unexplained(recording, approvals) }
}

function approvalsIn(log: string, { answers }: Recording): Approval[] {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
  const allowed = answers.filter(({ text }) => text.startsWith('→ allowed'))
  return lines.map((line, index) => {
    const [tool = '', subject = ''] = line.split(' ')
    return { tool, subject, at: allowed[index]?.at ?? Number.POSITIVE_INFINITY }
  })
}

/** Keyboards wait so long before they repeat a key that is held down, and then repeat it so often. */
const HELD_DELAYS_MS = [250, 500, 660, 1000]
const REPEATS_MS = [30, 90]
/** A machine that is this late plays a keyboard that does not exist. */
const LATE_MS = 100

/** Types without a plan: alone, twice, held down, as pasted text, byte by byte, while the window changes, and sometimes patiently. */
class Typist {
  readonly #shown: PseudoTerminal
  readonly #random: Random
  /** What was typed, and new sizes. */
  readonly acts: Act[] = []

  #isOver = false

  constructor(shown: PseudoTerminal, random: Random) {
    void shown.exited.then(() => {
      this.#isOver = true
    })
    this.#shown = shown
    this.#random = random
  }

  async step(): Promise<void> {
    if (this.#isOver) return
    const steps = [
      this.#key,
      this.#hasty,
      this.#hasty,
      this.#patientKey,
      this.#patientKey,
      this.#twice,
      this.#hold,
      this.#hold,
      this.#paste,
      this.#slow,
      this.#write,
      this.#write,
    ]
    await pick(this.#random, [...steps, this.#resize]).call(this)
  }

  /** Denies what is still asked. */
  async denyRest(): Promise<void> {
    while (!this.#isOver) {
      this.#press('n')
      await Promise.race([this.#shown.exited, sleep(PATIENT_MS)])
      // Between requests, the key went to the draft.
      this.#press(CLEAR.repeat(LONGEST_DRAFT))
      await Promise.race([this.#shown.exited, sleep(PATIENT_MS)])
    }
  }

  async #key(): Promise<void> {
    this.#press(this.#letter())
    await this.#pause(PATIENT_MS)
  }

  /** Types on while the request appears. */
  async #hasty(): Promise<void> {
    for (let count = 1 + Math.floor(this.#random() * 5); count > 0; count--) {
      this.#press('y')
      await this.#pause(300)
    }
  }

  async #patientKey(): Promise<void> {
    await sleep(PATIENT_MS)
    await this.#key()
  }

  async #twice(): Promise<void> {
    const key = this.#letter()
    if (this.#random() < 0.5) return this.#press(key + key)
    this.#press(key)
    await this.#pause(120)
    this.#press(key)
  }

  /** A key that is held down while requests appear, and released at any time, also after its first repeat. */
  async #hold(): Promise<void> {
    await this.#maybeWait()
    const repeat = pick(this.#random, REPEATS_MS)
    const delay = pick(this.#random, HELD_DELAYS_MS)
    const pressed = performance.now()
    this.#press('y')
    await sleep(delay)
    if (performance.now() - pressed > delay + LATE_MS) return
    for (let count = 1 + Math.floor(this.#random() * 12); count > 0; count--) {
      this.#press('y', true)
      await sleep(repeat)
    }
  }

  async #paste(): Promise<void> {
    await this.#maybeWait()
    const text = this.#text()
    this.#press(this.#random() < 0.5 ? `\x1b[200~${text}\x1b[201~` : text)
  }

  /** A link that delivers one byte after the other. */
  async #slow(): Promise<void> {
    await this.#maybeWait()
    const text = this.#text()
    for (const byte of this.#random() < 0.5 ? `\x1b[200~${text}\x1b[201~` : text) {
      this.#press(byte)
      await this.#pause(30)
    }
  }

  /** Writes in the composer, and sometimes sends it: keys of a prompt that a request interrupts. */
  async #write(): Promise<void> {
    const words = ['yes', 'y', '/policy ask', 'say so', '/help', 'sy sy']
    for (const letter of pick(this.#random, words)) {
      this.#press(letter)
      await this.#pause(60)
    }
    const end = pick(this.#random, ['', '', CLEAR, '\r', '\r', '\x13', '\n', '\t'])
    if (end !== '') this.#press(end)
    await this.#pause(PATIENT_MS)
  }

  async #resize(): Promise<void> {
    const rows = pick(this.#random, [14, 30, 50])
    const columns = pick(this.#random, [60, 90, 120])
    const at = this.#shown.resize(columns, rows)
    if (at !== undefined) this.acts.push({ at, columns, rows })
    await this.#pause(PATIENT_MS)
  }

  #press(keys: string, isRepeat = false): void {
    this.acts.push({ at: Date.now(), keys, isRepeat })
    this.#shown.press(keys)
  }

  async #pause(most: number): Promise<void> {
    await sleep(this.#random() * most)
  }

  /** Until the keys of a request count, or not. */
  async #maybeWait(): Promise<void> {
    if (this.#random() < 0.5) await sleep(PATIENT_MS)
  }

  #letter(): string {
    return pick(this.#random, [...'yyyysvv  qn'])
  }

  #text(): string {
    return `${this.#letter()}y${this.#letter()}\r${this.#letter()}x`
  }
}
