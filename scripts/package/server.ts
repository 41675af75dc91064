import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { environment, type Project, ROOT } from './project.ts'

export interface Server extends AsyncDisposable {
  readonly url: string
}

/** Puts a stand-in for Codex into the path of the project. */
export function writeCodex({ folder }: Project): void {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const fake = `exec '${process.execPath}' '${join(ROOT, 'faults/fakes/agent.ts')}' '${bin}' codex "$@"`
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo 9.9.9 && exit\n${fake}\n`
  writeFileSync(join(bin, 'codex'), script, { mode: 0o755 })
}

/** Starts the packed `mainstem serve` on a free port, with a data directory of this name. */
export async function serve(
  node: string,
  project: Project,
  data: string,
  options: readonly string[] = [],
): Promise<Server> {
  const main = join(project.home, 'dist/cli/main.js')
  const child = spawn(node, [main, 'serve', '--port', '0', ...options], {
    cwd: project.folder,
    env: environment(project, data),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    const url = /^listening on (\S+)$/.exec(line)?.[1]
    if (url === undefined) continue
    return {
      url,
      async [Symbol.asyncDispose]() {
        child.kill()
        await exited
      },
    }
  }
  throw new Error('the packed server exited before it listened')
}
