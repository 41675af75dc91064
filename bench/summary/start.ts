import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../median.ts'
import type { Row } from './row.ts'

const RUNS = 9

/** Prints, at its end, its processor time in microseconds and its memory in bytes. */
const METER = `data:text/javascript,${encodeURIComponent(
  "import{writeSync}from'node:fs';process.on('exit',()=>{const{user,system}=process.cpuUsage();writeSync(3,user+system+' '+process.memoryUsage().rss)})",
)}`

export interface Started {
  cpuMs: number
  wallMs: number
  megabytes: number
}

/** What a process of Node costs from its start to its end. */
export function measureStart(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Started {
  const begun = performance.now()
  const { output, status, stderr } = spawnSync(process.execPath, ['--import', METER, ...args], {
    ...{ cwd, env, encoding: 'utf8' as const },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const wallMs = performance.now() - begun
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`)
  const [micros = 0, bytes = 0] = (output[3] ?? '').split(' ').map(Number)
  return { cpuMs: micros / 1000, wallMs, megabytes: bytes / 1e6 }
}

/** Starts of the program and imports of the package. The command lines run beside a daemon that was started before. */
export async function starts(checkout: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  const env = { ...process.env, HOME: folder, MAINSTEM_HOME: join(folder, 'data') }
  const main = join(checkout, 'dist/cli/main.js')
  const measured = (args: readonly string[]) => measureStart(args, checkout, env)
  const commands = {
    'node -e 0': ['-e', '0'],
    "import('mainstem')": importing(join(checkout, 'dist/index.js')),
    'mainstem --version': [main, '--version'],
    'mainstem --help': [main, '--help'],
    'mainstem ls': [main, 'ls'],
    'mainstem run echo hi': [main, 'run', 'echo', 'hi'],
    'mainstem run echo hi --ephemeral': [main, 'run', 'echo', 'hi', '--ephemeral'],
  }
  try {
    // The first one starts the daemon.
    measured([main, 'ls'])
    const found = Object.entries(commands).map(([what, args]) => ({ what, args, all: [] as Started[] }))
    for (let run = 0; run < RUNS; run++) for (const { args, all } of found) all.push(measured(args))
    return found.flatMap(({ what, all }) => [
      { what: `${what}: processor, ms`, value: median(all.map(({ cpuMs }) => cpuMs)) },
      { what: `${what}: time, ms`, value: median(all.map(({ wallMs }) => wallMs)) },
      { what: `${what}: memory, MB`, value: median(all.map(({ megabytes }) => megabytes)) },
    ])
  } finally {
    measured([main, 'daemon', 'stop'])
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
}

export function importing(path: string): string[] {
  return ['--input-type=module', '-e', `await import('${path}')`]
}
