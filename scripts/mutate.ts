import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { randomFrom, shuffled } from '../faults/random.ts'
import type { Mutant } from './mutate/schemata.ts'
import { sitesIn } from './mutate/sites.ts'

/**
 * Changes the sources of a folder in small ways, one at a time, and runs the tests that reach the change. A change that
 * no test notices is a survivor: a claim without a test, or a change without an effect.
 *
 *     npm run mutate -- src/sessions --tests test/sessions --sample 200 --seed 1
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string', multiple: true },
    skip: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    /** Only mutants whose `file:line text` contains this text. */
    only: { type: 'string', default: '' },
  },
})
const [sources] = positionals
if (sources === undefined) throw new TypeError('name a folder or file: npm run mutate -- src/sessions')
const tests = values.tests ?? [sources.replace(/^src\//, 'test/')]

/** The longest run of one mutant; it counts as noticed after that, because the tests pass well before. */
const RUN_MS = 90_000
/** The fastest test files run first, because they notice most mutants. */
const FIRST_FILES = 8

const folder = mkdtempSync(join(tmpdir(), 'mainstem-mutants-'))
let runner: ChildProcess | undefined
try {
  const mutants = readMutants(sources)
  writeFileSync(join(folder, 'mutants.json'), JSON.stringify(mutants))
  const files = globSync(tests.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`)))
    .filter((file) => !values.skip.some((part) => file.includes(part)))
    // They need a database server, which the runner does not start: it is ended with each mutant that hangs.
    .filter((file) => !readFileSync(file, 'utf8').includes('newSchema('))
    .map((file) => resolve(file))
  if (files.length === 0) throw new RangeError(`no tests in ${tests.join(', ')}: name them with --tests`)
  const baseline = await run(0, files)
  if (typeof baseline !== 'object') throw new Error('the tests did not end without a mutant')
  if (baseline.failed.length > 0)
    throw new Error(`the tests fail without a mutant: ${baseline.failed.join(', ')}`)
  report(await score(sampled(mutants), baseline))
} finally {
  end()
  rmSync(folder, { recursive: true, force: true })
}

function readMutants(path: string): Mutant[] {
  const found = path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.ts`).toSorted()
  let id = 0
  return found.flatMap((name) => {
    const source = readFileSync(name, 'utf8')
    const lineAt = (start: number) => source.slice(0, start).split('\n').length
    return sitesIn(name, source).map((site) => ({
      ...site,
      id: ++id,
      file: resolve(name),
      line: lineAt(site.start),
    }))
  })
}

function sampled(mutants: readonly Mutant[]): Mutant[] {
  const chosen = mutants.filter(({ file, line, text }) => `${file}:${line} ${text}`.includes(values.only))
  const random = randomFrom(Number(values.seed))
  return shuffled(random, chosen)
    .slice(0, Number(values.sample))
    .toSorted((a, b) => a.id - b.id)
}

interface Result {
  readonly mutant: Mutant
  readonly how: 'noticed' | 'timeout' | 'survived' | 'unreached'
}

async function score(mutants: readonly Mutant[], baseline: Run): Promise<Result[]> {
  const { ms } = baseline
  const reaching = readReached()
  const results: Result[] = []
  for (const mutant of mutants) {
    const files = (reaching.get(mutant.id) ?? []).toSorted((a, b) => (ms[a] ?? 0) - (ms[b] ?? 0))
    const how = files.length === 0 ? 'unreached' : await test(mutant, files, baseline)
    results.push({ mutant, how })
    if (how === 'survived' || how === 'unreached') console.log(describe({ mutant, how }))
  }
  return results
}

function readReached(): Map<number, string[]> {
  const reaching = new Map<number, string[]>()
  for (const name of readdirSync(folder).filter((name) => name.startsWith('reached-'))) {
    const { file, ids }: { file: string; ids: number[] } = JSON.parse(
      readFileSync(join(folder, name), 'utf8'),
    )
    for (const id of ids) reaching.set(id, [...(reaching.get(id) ?? []), file])
  }
  return reaching
}

async function test(
  { id }: Mutant,
  files: readonly string[],
  baseline: Run,
): Promise<'noticed' | 'timeout' | 'survived'> {
  for (const part of [files.slice(0, FIRST_FILES), files.slice(FIRST_FILES)]) {
    if (part.length === 0) continue
    const result = await wholeRun(id, part, baseline)
    if (result !== 'survived') return result
  }
  return 'survived'
}

/** After a failed test, Vitest sometimes skips tests of the next run, which would look like a survivor. */
async function wholeRun(
  id: number,
  files: readonly string[],
  baseline: Run,
): Promise<'noticed' | 'timeout' | 'survived'> {
  for (const attempt of ['first', 'second']) {
    // A new process has no state of earlier runs.
    if (attempt === 'second') end()
    const result = await run(id, files)
    if (result === 'timeout') return 'timeout'
    if (result.failed.length > 0) return 'noticed'
    if (files.every((file) => result.passed[file] === baseline.passed[file])) return 'survived'
  }
  return 'noticed'
}

interface Run {
  readonly failed: string[]
  readonly ms: Record<string, number>
  /** The number of passed tests by file. */
  readonly passed: Record<string, number>
}

async function run(id: number, files: readonly string[]): Promise<Run | 'timeout'> {
  runner ??= await start()
  const done = AbortSignal.timeout(id === 0 ? 10 * RUN_MS : RUN_MS)
  runner.send({ id, files })
  try {
    const [result] = await once(runner, 'message', { signal: done })
    return result
  } catch (thrown) {
    if (!done.aborted) throw thrown
    end()
    return 'timeout'
  }
}

async function start(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'mutate', 'runner.ts'), {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, MUTATE_FOLDER: folder },
  })
  await once(child, 'message')
  return child
}

/** Ends the runner with its workers, one of which may be in an endless loop. */
function end(): void {
  if (runner?.pid !== undefined) process.kill(-runner.pid, 'SIGKILL')
  runner = undefined
}

function describe({ mutant: { file, line, start, end, text }, how }: Result): string {
  const before = readFileSync(file, 'utf8').slice(start, end).replaceAll(/\s+/g, ' ')
  const path = file.slice(process.cwd().length + 1)
  return `${how.padEnd(9)} ${path}:${line}  ${before}  →  ${text === '' ? '(removed)' : text.replaceAll(/\s+/g, ' ')}`
}

function report(results: readonly Result[]): void {
  const byFile = Map.groupBy(results, ({ mutant }) => mutant.file)
  for (const [file, own] of byFile) console.log(line(file.slice(process.cwd().length + 1), own))
  console.log(line(`all (seed ${values.seed})`, results))
}

function line(name: string, results: readonly Result[]): string {
  const noticed = results.filter(({ how }) => how === 'noticed' || how === 'timeout').length
  const percent = ((100 * noticed) / results.length).toFixed(1)
  return `${name.padEnd(40)} ${noticed} of ${results.length} noticed (${percent} %)`
}
