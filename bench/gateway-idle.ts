import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const ROOT = join(import.meta.dirname, '..')
const BUILT = join(ROOT, '.cache/bench')
/** Start-up work is done after this time. */
const SETTLED_MS = 3_000

/** Private memory, and the pages of the Node binary, which all processes of the same Node share. */
interface Idle {
  ownBytes: number
  programBytes: number
}

/** The memory of the program as it is installed, when it has nothing to do: types that are stripped at the start cost more. */
export async function idle(data: string): Promise<Idle> {
  mkdirSync(BUILT, { recursive: true })
  mkdirSync(data)
  copyFileSync(join(ROOT, 'package.json'), join(BUILT, 'package.json'))
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  execFileSync(tsc, ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(BUILT, 'dist')])
  const args = [join(BUILT, 'dist/cli/main.js'), 'serve', '--port', '0', '--no-auth', '--data', data]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd: data })
  await once(createInterface(child.stdout), 'line')
  await setTimeout(SETTLED_MS)
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const bytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { ownBytes: bytes('RssAnon') + bytes('RssShmem'), programBytes: bytes('RssFile') }
}
