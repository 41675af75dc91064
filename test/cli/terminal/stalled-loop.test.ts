import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { permission } from '../asking.ts'
import { Desktop } from '../desktop.ts'

/** Standard input of the kernel: what is written stays in it until the event loop polls. */
class KernelInput implements Disposable {
  readonly readable: Socket
  readonly #folder = mkdtempSync(join(tmpdir(), 'stalled-'))
  readonly #writer: number

  constructor() {
    const path = join(this.#folder, 'input')
    execFileSync('mkfifo', [path])
    this.#writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    this.readable = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) })
  }

  press(keys: string): void {
    writeSync(this.#writer, keys)
  }

  [Symbol.dispose](): void {
    this.readable.destroy()
    closeSync(this.#writer)
    rmSync(this.#folder, { recursive: true })
  }
}

/** The decision after what the test does with an open request, and then a deliberate `n`. */
async function decidedAfter(
  use: (input: KernelInput, desk: Desktop) => Promise<void>,
  typedBefore = '',
): Promise<string | undefined> {
  using input = new KernelInput()
  using desk = new Desktop(input.readable)
  input.press(typedBefore)
  await desk.idle()
  const answer = desk.ask(permission)
  await use(input, desk)
  await desk.pass()
  await desk.pass()
  input.press('n')
  await desk.idle()
  await desk.pass()
  await desk.pass()
  return (await answer)?.decision
}

/** The key arrives, and the waits end, before the program polls again. */
async function stall(input: KernelInput, desk: Desktop, key: string): Promise<void> {
  await desk.idle()
  input.press(key)
  desk.endWaits()
  await desk.idle()
}

describe('what is typed while the program is busy allows nothing', () => {
  test.each([1, 2, 5])('a key before the keys of a request count, in %i stalls', async (stalls) => {
    const busy = async (input: KernelInput, desk: Desktop) => {
      for (let count = 0; count < stalls; count++) await stall(input, desk, 'y')
    }
    expect(await decidedAfter(busy)).toBe('deny')
  })

  test('a key when the time ends in which an earlier one could be held down', async () => {
    const busy = async (input: KernelInput, desk: Desktop) => {
      await desk.pass(400)
      await stall(input, desk, 'y')
    }
    expect(await decidedAfter(busy, 'x')).toBe('deny')
  })

  test('another key right after one that would', async () => {
    const busy = async (input: KernelInput, desk: Desktop) => {
      await desk.pass()
      input.press('y')
      await stall(input, desk, 'x')
    }
    expect(await decidedAfter(busy)).toBe('deny')
  })
})
