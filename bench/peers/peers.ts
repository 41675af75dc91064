import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { installTool } from '../../scripts/tools.ts'
import { median } from '../median.ts'
import { importing, measureStart } from '../summary/start.ts'
import { delays } from './delays.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What is measured of a package: what a program that imports it waits for, and what a person who runs it waits for. */
interface Peer {
  name: string
  version: string
  import?: string
  /** The command, below the folder of the package. */
  bin?: string
}

const PEERS: readonly Peer[] = [
  {
    name: '@anthropic-ai/claude-agent-sdk',
    version: '0.3.325',
    import: '@anthropic-ai/claude-agent-sdk',
  },
  { name: '@openai/codex-sdk', version: '0.163.0', import: '@openai/codex-sdk' },
  { name: 'acpx', version: '0.19.1', bin: 'dist/cli.js' },
  { name: 'sandbox-agent', version: '0.4.2', import: 'sandbox-agent' },
]

/**
 * `npm run bench -- peers [starts|delays] [runs]`: what Mainstem costs beside other packages for coding agents, which npm
 * installs into a cache outside the repository.
 */
export async function peers([what = 'starts', runs = '15']: readonly string[]): Promise<void> {
  const installed = await Promise.all(
    PEERS.map(async (peer) => ({ ...peer, folder: await installTool(peer.name, peer.version) })),
  )
  if (what === 'starts') return starts(installed, Number(runs))
  if (what !== 'delays') throw new Error(`there is no part ${what}: starts, delays`)
  writeMachine(`${runs} runs`)
  write('\n| | p50, ms | p99, ms |\n|---|---|---|')
  const folders = new Map(installed.map(({ name, folder }) => [name, folder]))
  const found = Map.groupBy(await repeated(Number(runs), () => delays(folders)), ({ name }) => name)
  for (const [name, all] of found) {
    const [p50, p99] = [all.map((one) => one.p50), all.map((one) => one.p99)].map((values) =>
      median(values).toFixed(2),
    )
    write(`| ${name} | ${p50} | ${p99} |`)
  }
}

async function repeated<T>(times: number, measure: () => Promise<T[]>): Promise<T[]> {
  const all: T[] = []
  for (let run = 0; run < times; run++) all.push(...(await measure()))
  return all
}

interface Installed extends Peer {
  folder: string
}

/**
 * Importing Mainstem and starting its command. Every line is measured in turns, in processes of their own; the processor
 * time is printed because it depends less on what else the machine does.
 */
async function starts(installed: readonly Installed[], runs: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  const main = join(ROOT, 'dist/cli/main.js')
  const env = { ...process.env, HOME: folder, MAINSTEM_HOME: join(folder, 'data') }
  const rows: Row[] = [
    row('`node -e 0`', ['-e', '0'], ROOT),
    row("`import('mainstem')`", importing(join(ROOT, 'dist/index.js')), ROOT),
    row("`import('mainstem/client')`", importing(join(ROOT, 'dist/client/node/index.js')), ROOT),
    ...installed.flatMap((peer) =>
      peer.import
        ? [row(`\`import('${peer.name}')\` ${peer.version}`, importing(peer.import), peer.folder)]
        : [],
    ),
    row('`mainstem --version`', [main, '--version'], ROOT),
    row('`mainstem --help`', [main, '--help'], ROOT),
    row('`mainstem ls`', [main, 'ls'], ROOT),
    row('`mainstem run echo hi`', [main, 'run', 'echo', 'hi'], ROOT),
    ...installed.flatMap((peer) => {
      const bin = peer.bin && join(peer.folder, 'node_modules', peer.name, peer.bin)
      return bin ? [row(`\`${peer.name} --version\` ${peer.version}`, [bin, '--version'], peer.folder)] : []
    }),
  ]
  try {
    // The first one starts the daemon.
    measureStart([main, 'ls'], ROOT, env)
    for (let run = 0; run < runs; run++) {
      for (const one of rows) {
        const { cpuMs, megabytes } = measureStart(one.args, one.cwd, env)
        one.cpuMs.push(cpuMs)
        one.megabytes.push(megabytes)
      }
    }
  } finally {
    measureStart([main, 'daemon', 'stop'], ROOT, env)
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
  print(rows, runs)
  const sizes = installed.map(
    ({ name, version, folder: home }) => [`${name} ${version}`, megabytesIn(home)] as const,
  )
  for (const [name, megabytes] of sizes)
    write(`${name}: ${megabytes.toFixed(0)} MB installed, with the programs that it brings`)
}

interface Row {
  name: string
  args: readonly string[]
  cwd: string
  cpuMs: number[]
  megabytes: number[]
}

function row(name: string, args: readonly string[], cwd: string): Row {
  return { name, args, cwd, cpuMs: [], megabytes: [] }
}

function print(rows: readonly Row[], runs: number): void {
  const [base] = rows
  const idle = median(base?.cpuMs ?? [])
  writeMachine(`${runs} runs`)
  write('\n| | processor time, ms | least to most | × `node -e 0` | memory, MB |\n|---|---|---|---|---|')
  for (const { name, cpuMs, megabytes } of rows) {
    const [least, most] = [Math.min(...cpuMs), Math.max(...cpuMs)].map((ms) => ms.toFixed(0))
    const middle = median(cpuMs)
    write(
      `| ${name} | ${middle.toFixed(0)} | ${least} to ${most} | ${(middle / idle).toFixed(1)} | ${median(megabytes).toFixed(0)} |`,
    )
  }
  write('')
}

function writeMachine(runs: string): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}, ${(totalmem() / 2 ** 30).toFixed(0)} GB`
  write(`${machine}, Node ${process.versions.node}, ${runs}`)
}

function megabytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6
}

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}
