import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { ATTACKS, type Target } from './attacks.ts'

/** An attack in a process of its own. */
export class Attacker implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  /** Connections and requests so far. */
  sent = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#exited = once(child, 'exit')
    child.on('message', (sent) => {
      this.sent = Number(sent)
    })
  }

  /** Settles when the program has started; the attack begins with `attack`. `isNice` gives it the lowest priority. */
  static async start(name: string, target: Target, isNice: boolean): Promise<Attacker> {
    const child = fork(import.meta.filename, [name, JSON.stringify(target)])
    const attacker = new Attacker(child)
    await Promise.race([once(child, 'message'), attacker.#exited])
    if (isNice && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    return attacker
  }

  attack(): void {
    this.#child.send('attack')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
    await this.#exited
  }
}

const REPORT_MS = 500

if (import.meta.main) {
  const [name = '', target = '{}'] = process.argv.slice(2)
  let sent = 0
  setInterval(() => process.send?.(sent), REPORT_MS)
  process.on('disconnect', () => process.exit())
  await once(process, 'message')
  await ATTACKS[name]?.(JSON.parse(target), () => sent++)
}
