import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { median } from './median.ts'

const MAIN = join(import.meta.dirname, '../dist/cli/main.js')
const LIMIT_MS = 150

/** Prints the processor time of its process at its end. */
const METER = `data:text/javascript,${encodeURIComponent(
  "import{writeSync}from'node:fs';process.on('exit',()=>{const{user,system}=process.cpuUsage();writeSync(3,String(user+system))})",
)}`

/** `npm run bench -- cli [runs]`: processor time of `mainstem run echo hi` on a daemon that runs, beside `node -e 0`. */
export async function cli([runs = '20']: readonly string[]): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  const env = { ...process.env, MAINSTEM_HOME: home }
  const command = [MAIN, 'run', 'echo', 'hi']
  try {
    // The first one starts the daemon.
    await cpuMs(command, env)
    const [empty, ours]: [number[], number[]] = [[], []]
    for (let run = 0; run < Number(runs); run++) {
      empty.push(await cpuMs(['-e', '0'], env))
      ours.push(await cpuMs(command, env))
    }
    report(empty, ours)
  } finally {
    await cpuMs([MAIN, 'daemon', 'stop'], env)
    rmSync(home, { recursive: true, maxRetries: 3 })
  }
}

function report(empty: readonly number[], ours: readonly number[]): void {
  const [base, own] = [median(empty), median(ours)]
  const beyond = own - base
  process.stdout.write(
    `run echo hi: ${own.toFixed(0)} ms of processor time, node -e 0: ${base.toFixed(0)} ms, ratio ${(own / base).toFixed(1)}\n` +
      `median of ${ours.length} runs beyond node -e 0: ${beyond.toFixed(0)} ms (limit ${LIMIT_MS}), most ${(Math.max(...ours) - base).toFixed(0)} ms\n`,
  )
  if (beyond > LIMIT_MS) process.exitCode = 1
}

async function cpuMs(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, ['--import', METER, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const meter = child.stdio[3]
  if (!meter || !('readable' in meter)) throw new Error('the meter has no pipe')
  const [micros, [code]] = await Promise.all([text(meter), once(child, 'exit')])
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}`)
  return Number(micros) / 1000
}
