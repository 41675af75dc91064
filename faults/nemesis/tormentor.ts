import type { Host } from '../crash/host.ts'
import { pick, type Random } from '../random.ts'

/** The share of ticks that kill or stop an agent. */
const CHANCE = 0.01
const LONGEST_STOP_MS = 4_000

/** Kills agents, and stops them for a while. Only processes of the host's own agents are touched. */
export class Tormentor {
  strikes = 0
  readonly #host: Host
  readonly #random: Random
  readonly #stopped = new Map<number, NodeJS.Timeout>()

  constructor(host: Host, random: Random) {
    this.#host = host
    this.#random = random
  }

  strike(): void {
    if (this.#random() > CHANCE) return
    const pids = this.#host.agentProcesses().map((one) => Number(one.split(' ')[0]))
    if (pids.length === 0) return
    const pid = pick(this.#random, pids)
    this.strikes++
    if (this.#random() < 0.5) signal(pid, 'SIGKILL')
    else {
      signal(pid, 'SIGSTOP')
      this.#stopped.set(
        pid,
        setTimeout(() => this.#continue(pid), this.#random() * LONGEST_STOP_MS),
      )
    }
  }

  /** Continues every stopped process. */
  release(): void {
    for (const pid of this.#stopped.keys()) this.#continue(pid)
  }

  #continue(pid: number): void {
    clearTimeout(this.#stopped.get(pid))
    this.#stopped.delete(pid)
    const isOurs = this.#host.agentProcesses().some((one) => one.startsWith(`${pid} `))
    if (isOurs) signal(pid, 'SIGCONT')
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (thrown) {
    // It may have ended on its own since it was listed.
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
  }
}
