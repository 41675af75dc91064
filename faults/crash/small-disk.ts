import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const SIZE = '32m'

/** A disk of its own for the output of agents, which can be filled. Mounting one takes the rights of root. */
export class SmallDisk implements Disposable {
  readonly #root: string
  readonly #spool: string

  /** Mounts it at `spool`. Undefined where that is not allowed. */
  static mount(home: string, spool: string): SmallDisk | undefined {
    const root = join(home, 'disk')
    for (const folder of [root, spool]) mkdirSync(folder, { mode: 0o700 })
    if (!runs('mount', '-t', 'tmpfs', '-o', `size=${SIZE},mode=700`, 'none', root)) return undefined
    const disk = new SmallDisk(root, spool)
    mkdirSync(join(root, 'spool'), { mode: 0o700 })
    if (runs('mount', '--bind', join(root, 'spool'), spool)) return disk
    disk[Symbol.dispose]()
    return undefined
  }

  private constructor(root: string, spool: string) {
    this.#root = root
    this.#spool = spool
  }

  fill(): boolean {
    const { bavail, bsize } = statfsSync(this.#root)
    return !existsSync(this.#filler) && runs('fallocate', '-l', String(bavail * bsize), this.#filler)
  }

  /** Frees the space that `fill` took. Returns false if it is free. */
  free(): boolean {
    const isFull = existsSync(this.#filler)
    rmSync(this.#filler, { force: true })
    return isFull
  }

  [Symbol.dispose](): void {
    for (const folder of [this.#spool, this.#root]) runs('umount', '--lazy', folder)
  }

  /** Outside of the spool, whose folders are runs. */
  get #filler(): string {
    return join(this.#root, 'filler')
  }
}

function runs(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch (thrown) {
    if (thrown instanceof Error && 'status' in thrown) return false
    throw thrown
  }
}
