import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { WarmCommand } from './warm-program.ts'

const PROGRAM = fileURLToPath(new URL('./warm-program.ts', import.meta.url))

/** What a command printed, and its exit code. */
export interface Ran {
  code: number | null
  out: string
  err: string
}

/** A process that has loaded the program and runs one command at a time. It ends with this one. */
class WarmProcess {
  readonly #child: ChildProcess
  #output = { out: '', err: '' }
  #check: () => void = () => undefined
  #isGone = false
  isBusy = false

  constructor() {
    this.#child = fork(PROGRAM, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    for (const [name, stream] of [
      ['out', this.#child.stdout],
      ['err', this.#child.stderr],
    ] as const) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output[name] += text
        this.#check()
      })
    }
    this.#child.on('close', () => {
      this.#isGone = true
      this.#check()
    })
    this.#hold('unref')
  }

  /** An idle child must not keep its owner running. */
  #hold(how: 'ref' | 'unref'): void {
    const { channel, stdout, stderr } = this.#child
    this.#child[how]()
    channel?.[how]()
    for (const stream of [stdout, stderr]) if (stream instanceof Socket) stream[how]()
  }

  get isGone(): boolean {
    return this.#isGone
  }

  async run(command: Omit<WarmCommand, 'mark'>): Promise<Ran> {
    this.isBusy = true
    this.#hold('ref')
    this.#output = { out: '', err: '' }
    const mark = `\0${randomUUID()}\0`
    const ended = new Promise<void>((resolve) => {
      this.#check = () => {
        const { out, err } = this.#output
        // Node may print a warning after the mark.
        if (this.#isGone || (out.includes(mark) && err.includes(mark))) resolve()
      }
    })
    this.#child.send({ ...command, mark })
    await ended
    this.isBusy = false
    this.#hold('unref')
    const { out, err } = this.#output
    // A command that ends the process leaves its exit code there.
    if (this.#isGone) return { code: this.#child.exitCode, out, err }
    const [, text = '', code] = /^(.*?)(\d+)$/s.exec(before(mark, err)) ?? []
    return { code: Number(code), out: before(mark, out), err: text }
  }
}

function before(mark: string, output: string): string {
  return output.slice(0, output.indexOf(mark))
}

let warm: WarmProcess | undefined

/** Runs a command in the warm process; `undefined` while that runs another one. */
export function runWarm(command: Omit<WarmCommand, 'mark'>): Promise<Ran> | undefined {
  if (warm?.isGone) warm = undefined
  warm ??= new WarmProcess()
  return warm.isBusy ? undefined : warm.run(command)
}
