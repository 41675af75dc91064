import { readFileSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { Recording } from './approval-oracle.ts'
import { ScreenText } from './screen-text.ts'

interface Size {
  columns: number
  rows: number
}

/** What a test did to a terminal, and when by the clock of the test. */
export type Act = { at: number; keys: string; isRepeat: boolean } | ({ at: number } & Size)

interface Piece {
  at: number
  bytes: Buffer
}

/** What passed a terminal, in milliseconds since it was opened. */
interface TerminalLog {
  output: readonly Piece[]
  input: readonly Piece[]
}

/** The options of `script` that write the log. */
export function logOptions(path: string): string[] {
  return ['--log-in', `${path}.in`, '--log-out', `${path}.out`, '--log-timing', `${path}.timing`]
}

/** The bytes of one direction. `script` begins their file with a line of its own. */
class Direction {
  readonly pieces: Piece[] = []
  #rest: Buffer

  constructor(file: string) {
    const all = readFileSync(file)
    this.#rest = all.subarray(all.indexOf('\n') + 1)
  }

  passed(at: number, length: number): void {
    this.pieces.push({ at, bytes: this.#rest.subarray(0, length) })
    this.#rest = this.#rest.subarray(length)
  }
}

/** Reads what `script` logged, after it has ended. */
export function readLog(path: string): TerminalLog {
  const output = new Direction(`${path}.out`)
  const input = new Direction(`${path}.in`)
  const directions = new Map([
    ['O', output],
    ['I', input],
  ])
  let at = 0
  for (const line of readFileSync(`${path}.timing`, 'utf8').split('\n')) {
    const [kind = '', seconds = '0', length] = line.split(' ')
    at += Number(seconds) * 1000
    directions.get(kind)?.passed(at, Number(length))
  }
  return { output: output.pieces, input: input.pieces }
}

/**
 * What the terminal showed and got, by its own clock. A test that is late itself would see the screen later, and a key
 * that it writes arrives later.
 */
export function recordingOf(log: TerminalLog, size: Size, acts: readonly Act[]): Recording {
  let now = 0
  const recording = new Recording(size.rows, () => now)
  const screen = new ScreenText(size.columns)
  const decoder = new StringDecoder('utf8')
  const steps = [
    ...timed(log, acts).map(({ at, act }) => ({
      at,
      run() {
        if ('keys' in act) return recording.press(act.keys, act.isRepeat)
        screen.resize(act.columns)
        recording.resize(act.rows)
      },
    })),
    ...log.output.map(({ at, bytes }) => ({
      at,
      run() {
        screen.write(decoder.write(bytes))
        recording.screen(screen.text)
      },
    })),
  ].sort((a, b) => a.at - b.at)
  for (const { at, run } of steps) {
    now = at
    run()
  }
  return recording
}

/** When each act reached the terminal. Keys that the program did not wait for are missing. */
function timed({ input }: TerminalLog, acts: readonly Act[]): { at: number; act: Act }[] {
  const arrivals = input.flatMap(({ at, bytes }) => Array.from(bytes, () => at))
  let place = 0
  let apart = Number.POSITIVE_INFINITY
  const arrived = new Map<Act, number>()
  for (const act of acts) {
    const at = 'keys' in act ? arrivals[place] : undefined
    if (!('keys' in act) || at === undefined) continue
    place += Buffer.byteLength(act.keys)
    arrived.set(act, at)
    apart = Math.min(apart, at - act.at)
  }
  return acts.flatMap((act) => {
    const at = 'keys' in act ? arrived.get(act) : act.at + apart
    return at === undefined ? [] : [{ at, act }]
  })
}
