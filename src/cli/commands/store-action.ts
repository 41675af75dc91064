import { loadConfig } from '../../daemon/config.ts'
import { backup, type CopyProgress, type CopySummary, copy, restore } from '../../daemon/copy-store.ts'
import { printable, printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { USUAL_COLUMNS } from '../render/show.ts'
import { Terminal } from '../terminal/terminal.ts'
import type { BackupFlags, StoreFlags } from './store.ts'

/** How often a terminal is drawn, and a line is written where there is none. */
const DRAW_MS = 100
const LINE_MS = 5_000

export function storeCopy(from: string, to: string, { restart = false, json }: StoreFlags): Promise<void> {
  return showing(json, (progress) => copy(from, to, { restart, progress }))
}

/** `mainstem backup`: copies what the server has stored, while it runs. */
export async function backUp(to: string, { json, ...flags }: BackupFlags): Promise<void> {
  const from = await storeOf(flags)
  await showing(json, (progress) => backup(from, to, { progress }))
}

/** `mainstem restore`: copies a backup into the empty store of a server. */
export async function restoreInto(from: string, { json, ...flags }: BackupFlags): Promise<void> {
  const to = await storeOf(flags)
  await showing(json, (progress) => restore(from, to, { progress }))
}

/** The store that a server with these options uses. */
async function storeOf(flags: Omit<BackupFlags, 'json'>): Promise<string> {
  const { data, store } = await loadConfig({ flags, environment: process.env, cwd: process.cwd() })
  return store?.url ?? data
}

type Work = (progress: (progress: CopyProgress) => void) => Promise<CopySummary>

async function showing(json: boolean | undefined, work: Work): Promise<void> {
  const { stdout, stderr } = process
  const shown = progressOn(stderr)
  const began = performance.now()
  try {
    const summary = await work(shown.show)
    const seconds = Math.round(performance.now() - began) / 1_000
    await shown.end()
    const text = json ? printableJson({ ...summary, seconds }) : printable(described(summary, seconds))
    await new Printer(stdout).print(`${text}\n`)
  } finally {
    await shown.end()
  }
}

interface Shown {
  show(progress: CopyProgress): void
  end(): Promise<void>
}

/** One line that changes on a terminal; elsewhere a line now and then, and one at the start of each phase. */
function progressOn(output: NodeJS.WriteStream): Shown {
  const printer = new Printer(output)
  const terminal = new Terminal(printer, () => output.columns || USUAL_COLUMNS)
  const isTerminal = output.isTTY === true
  const pause = isTerminal ? DRAW_MS : LINE_MS
  let [phase, drawn, began]: [string, number, number] = ['', 0, 0]
  return {
    show: (progress) => {
      const now = performance.now()
      if (progress.phase !== phase) [phase, began] = [progress.phase, now]
      else if (now - drawn < pause) return
      drawn = now
      const line = progressLine(progress, (now - began) / 1_000)
      void (isTerminal ? terminal.status(line) : printer.print(`${line}\n`))
    },
    end: () => (isTerminal ? terminal.status('') : Promise.resolve()),
  }
}

const PHASES = { copy: 'copying', verify: 'verifying' }

export function progressLine(
  { phase, sessions, entries, bytes, totals }: CopyProgress,
  seconds: number,
): string {
  const parts = [
    `${number(sessions)} of ${number(totals.sessions)} sessions`,
    `${number(entries)} of ${number(totals.entries)} entries`,
    size(bytes),
    ...(seconds > 0 ? [`${size(bytes / seconds)}/s`] : []),
  ]
  return `${PHASES[phase]}: ${parts.join(', ')}`
}

const OUTCOMES = {
  copied: 'copied and verified',
  continued: 'continued and verified',
  unchanged: 'already copied, verified again',
}

function described(
  { from, to, outcome, sessions, entries, blobs, receipts, bytes }: CopySummary,
  seconds: number,
): string {
  const counts = [
    counted(sessions, 'session'),
    counted(entries, 'entry', 'entries'),
    counted(blobs, 'blob'),
    counted(receipts, 'idempotency key'),
  ]
  return `${OUTCOMES[outcome]}: ${counts.join(', ')}, ${size(bytes)} in ${seconds.toFixed(1)} s\nfrom ${from}\nto   ${to}`
}

function counted(count: number, word: string, plural = `${word}s`): string {
  return `${number(count)} ${count === 1 ? word : plural}`
}

const number = (value: number) => value.toLocaleString('en-US')
const size = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
