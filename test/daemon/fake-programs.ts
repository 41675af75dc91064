import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, vi } from 'vitest'

const made: string[] = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true })
})

/** A machine of our own: one folder of programs, and a home. */
export class Machine {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'machine-')))
  readonly bin = join(this.root, 'bin')
  readonly home = join(this.root, 'home')
  /** Nothing of the real machine is in its PATH, so that no real agent is found. */
  readonly environment = { PATH: this.bin, HOME: this.home }

  constructor() {
    made.push(this.root)
    mkdirSync(this.bin)
    mkdirSync(this.home)
  }

  /** A shell script; it finds its own folder in `$here`. */
  program(name: string, script: string): string {
    return this.executable(name, `#!/bin/sh\nhere=${this.bin}\n${script}\n`)
  }

  executable(name: string, text: string): string {
    const path = join(this.bin, name)
    writeFileSync(path, text)
    chmodSync(path, 0o755)
    return path
  }

  file(path: string, text = ''): string {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  /** What a program has left beside itself, as soon as all of it is there. */
  async left(name: string): Promise<string> {
    const file = join(this.bin, name)
    await vi.waitFor(
      () => expect(existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')).toBe(true),
      10_000,
    )
    return readFileSync(file, 'utf8').trim()
  }
}

/** Tells its pid, and that of a child of its own, and then listens to nobody. */
export const STUBBORN = `trap '' INT TERM
/bin/sleep 1000 &
echo "$$ $!" > $here/pids
wait`

/** What these programs print when all is well. */
export const VERSIONS = {
  claude: 'echo "2.1.326 (Claude Code)"',
  codex: 'echo "WARNING: 9.9.9" >&2; echo "codex-cli 0.169.0"',
  gemini: 'echo 0.61.0',
  opencode: 'echo 1.18.33',
} as const
