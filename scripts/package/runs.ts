import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { isOfDocuments, isRunnable, type Program } from './programs.ts'
import { environment, type Project, ROOT } from './project.ts'
import { serve } from './server.ts'

const run = promisify(execFile)
const PAGE_URL = 'http://127.0.0.1:7380'
/** Shortens the pauses of the demo agent, which plays at human speed. */
const FAST = ['--import', join(ROOT, 'test/docs/fast.mjs')]

/** A Node, and the project whose programs it runs. */
interface Target {
  node: string
  project: Project
}

async function runFile({ node, project }: Target, args: readonly string[]): Promise<string> {
  // Programs that name no server must not find one by its data directory.
  const env = environment(project, 'local')
  return (await run(node, args, { cwd: project.folder, env })).stdout
}

async function checkBin(target: Target): Promise<void> {
  const main = join(target.project.home, 'dist/cli/main.js')
  const { version } = JSON.parse(readFileSync(join(target.project.home, 'package.json'), 'utf8'))
  const printed = await runFile(target, [main, '--version'])
  if (printed !== `${version}\n`) throw new Error(`mainstem --version printed ${printed}`)
  // Without a daemon, which would outlive this check.
  const answer = await runFile(target, [main, 'run', '--ephemeral', 'echo', 'hello'])
  if (answer !== 'hello\n') throw new Error(`mainstem run --ephemeral echo hello printed ${answer}`)
}

async function checkExports(target: Target, entries: readonly string[]): Promise<void> {
  const file = join(target.project.folder, 'exports.mjs')
  const imports = entries.map((entry) => `console.log(Object.keys(await import('${entry}')).length)`)
  writeFileSync(file, `${imports.join('\n')}\n`)
  const counts = (await runFile(target, [file])).trim().split('\n').map(Number)
  const empty = entries.filter((_, index) => !((counts[index] ?? 0) > 0))
  if (empty.length > 0) throw new Error(`these entries export nothing: ${empty.join(', ')}`)
}

/** Runs a program of a page, and compares what it prints. */
async function check(target: Target, program: Program, file: string): Promise<void> {
  const plays = program.text.includes("agent: 'demo'")
  const printed = await runFile(target, [...(plays ? FAST : []), file])
  const { place, output } = program
  if (output !== undefined && printed !== output) throw new Error(`${place} printed\n${printed}`)
  if (printed === '') throw new Error(`${place} printed nothing`)
}

/** Runs a program of the README as it is read: without its types, and not compiled. */
async function runAsWritten(target: Target, program: Program): Promise<void> {
  const file = program.file.replace(/\.ts$/, '.mjs')
  writeFileSync(file, stripTypeScriptTypes(program.text))
  await check(target, program, file)
}

/** Runs what TypeScript made of a program, against a server where it names one. */
async function runCompiled(target: Target, program: Program, url: string): Promise<void> {
  const compiled = join(target.project.folder, 'js', basename(program.file).replace(/\.ts$/, '.js'))
  const file = compiled.replace(/\.js$/, '.mjs')
  writeFileSync(file, readFileSync(compiled, 'utf8').replaceAll(PAGE_URL, url))
  await check(target, program, file)
}

/** Compiles every program for the oldest Node that we support, which has no `await using`. */
export async function emitPrograms({ folder }: Project): Promise<void> {
  const compilerOptions = { module: 'nodenext', target: 'es2022', outDir: 'js', noCheck: true }
  const config = join(folder, 'tsconfig.json')
  writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { cwd: folder })
}

/** Runs the command, every entry and the programs of the pages. Returns how many programs ran. */
export async function checkRuns(
  node: string,
  project: Project,
  { entries, programs }: { entries: readonly string[]; programs: readonly Program[] },
): Promise<number> {
  const target = { node, project }
  await checkBin(target)
  await checkExports(target, entries)
  const { stdout } = await run(node, ['--version'])
  await using server = await serve(node, project, `data-${stdout.trim()}`, ['--no-auth'])
  const chosen = programs.filter((program) => isOfDocuments(program) || isRunnable(program))
  for (const program of chosen) {
    if (program.place.startsWith('README.md')) await runAsWritten(target, program)
    else await runCompiled(target, program, server.url)
  }
  return chosen.length
}
