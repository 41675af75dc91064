import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { MUTATIONS, type Mutation } from './mutations.ts'

// Plants faults in a copy of the sources, one at a time, and plays the cell that has to notice each of them.
const { values } = parseArgs({ options: { only: { type: 'string' } } })
const chosen = MUTATIONS.filter(({ name }) => name.includes(values.only ?? ''))

const run = promisify(execFile)
const RUN_MS = 300_000
const PASSED = 'passed'
const COPIED = ['src', 'conformance', 'docs', 'README.md', 'package.json']

interface Verdict {
  readonly isRed: boolean
  readonly reason: string
}

const folder = await mkdtemp(join(tmpdir(), 'mutants-'))
try {
  await copySources(folder)
  const survivors = await checkMutants(folder, await redOriginals(folder))
  console.log(`${chosen.length - survivors.length} of ${chosen.length} mutations were noticed`)
  process.exitCode = survivors.length === 0 ? 0 : 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function copySources(to: string): Promise<void> {
  const filter = (path: string) => basename(path) !== 'fixtures' || path.includes('conformance')
  for (const name of COPIED) await cp(name, join(to, name), { recursive: true, filter })
  await symlink(resolve('node_modules'), join(to, 'node_modules'))
}

/** Cells that are red without a fault: a mutant proves nothing there. */
async function redOriginals(cwd: string): Promise<Set<string>> {
  const red = new Set<string>()
  for (const cell of new Set(chosen.map((mutation) => mutation.cell))) {
    const { isRed, reason } = await play(cell, cwd)
    if (isRed || reason !== PASSED) red.add(cell)
    if (red.has(cell)) console.log(`not green without a mutation: ${cell}: ${reason}`)
  }
  return red
}

async function checkMutants(cwd: string, redCells: ReadonlySet<string>): Promise<Mutation[]> {
  const survivors: Mutation[] = []
  for (const mutation of chosen) {
    if (redCells.has(mutation.cell)) {
      survivors.push(mutation)
      continue
    }
    const { isRed, reason } = await playMutant(mutation, cwd)
    if (!isRed) survivors.push(mutation)
    const row = [isRed ? 'red  ' : 'GREEN', mutation.name.padEnd(46), mutation.cell.padEnd(32), reason]
    console.log(row.join('  '))
  }
  return survivors
}

async function playMutant({ file, from, to, cell }: Mutation, cwd: string): Promise<Verdict> {
  const path = join(cwd, file)
  const original = await readFile(path, 'utf8')
  const places = original.split(from).length - 1
  if (places !== 1) return { isRed: false, reason: `the text to replace occurs ${places} times in ${file}` }
  await writeFile(
    path,
    original.replace(from, () => to),
  )
  try {
    return await play(cell, cwd)
  } finally {
    await writeFile(path, original)
  }
}

/** Red only by the verdict of the cell: a run that fails in another way proves nothing. */
async function play(cell: string, cwd: string): Promise<Verdict> {
  const [program = '', launch = '', scenario = ''] = cell.split('/')
  const args = [
    'conformance/run.ts',
    '--only',
    program,
    '--launch',
    launch,
    '--scenario',
    scenario,
    '--seed',
    '1',
  ]
  const options = { cwd, timeout: RUN_MS }
  const { stdout } = await run(process.execPath, args, options).catch((thrown) => ({
    stdout: String(thrown.stdout ?? thrown),
  }))
  const verdict = stdout.split('\n').find((line) => line.startsWith(`red: ${cell}: `))
  if (verdict !== undefined) return { isRed: true, reason: verdict.slice(`red: ${cell}: `.length, 160) }
  const isYes = stdout.includes('1 yes, 0 no')
  return { isRed: false, reason: isYes ? PASSED : `no verdict: ${stdout.slice(-200)}` }
}
