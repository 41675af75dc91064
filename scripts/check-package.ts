/**
 * `npm run check:package`: packs the built package, puts it into an empty project, compiles every program of the pages
 * there under `nodenext` and `bundler`, and runs the programs of the documents against the packed `mainstem serve`.
 * Dependencies are linked from this repository, so that no network is needed and an undeclared one is missing.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { blocksOf, pages } from '../test/docs/pages.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..')
const PAGE_URL = 'http://127.0.0.1:7380'
/** Its programs are the documents' own, and are run. */
const DOCUMENTS = 'docs/compatibility/documents.md'

const RESOLUTIONS = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}

interface Program {
  place: string
  file: string
  text: string
  output: string | undefined
}

/** An empty project with the packed package in it. */
async function install(project: string): Promise<string> {
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project]
  const { stdout } = await run('npm', pack, { cwd: ROOT })
  const [{ filename }] = JSON.parse(stdout)
  const home = join(project, 'node_modules/mainstem')
  mkdirSync(home, { recursive: true })
  await run('tar', ['xzf', join(project, filename), '-C', home, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) {
    const link = join(project, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  return home
}

/** Every TypeScript block of the pages, with the output that is printed below it. */
function writePrograms(project: string): Program[] {
  return pages.flatMap((page) => {
    const blocks = blocksOf(page)
    return blocks.flatMap(({ place, language, text }, index) => {
      if (language !== 'ts') return []
      const file = join(project, `${place.replaceAll(/\W+/g, '-')}.ts`)
      writeFileSync(file, text)
      const next = blocks[index + 1]
      return [{ place, file, text, output: next?.language === 'text' ? next.text : undefined }]
    })
  })
}

async function compile(project: string, name: keyof typeof RESOLUTIONS): Promise<void> {
  const compilerOptions = {
    ...RESOLUTIONS[name],
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable', 'dom'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
  }
  const config = join(project, `tsconfig.${name}.json`)
  writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { cwd: project }).catch((failed) => {
    throw new Error(`${name}: ${failed.stdout}`)
  })
}

/** The environment of a user whose Codex is a stand-in, with a data directory of this name. */
function environment(project: string, data: string): NodeJS.ProcessEnv {
  const PATH = `${join(project, 'bin')}${delimiter}${process.env.PATH}`
  return { PATH, HOME: project, MAINSTEM_HOME: join(project, data) }
}

/** The packed `mainstem serve`; gives its address and a way to end it. */
async function serve(project: string, home: string): Promise<{ url: string; stop(): Promise<unknown> }> {
  const bin = join(project, 'bin')
  mkdirSync(bin)
  const fake = `exec '${process.execPath}' '${join(ROOT, 'scripts/fakes/agent.ts')}' '${bin}' codex "$@"`
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo 9.9.9 && exit\n${fake}\n`
  writeFileSync(join(bin, 'codex'), script, { mode: 0o755 })
  const main = join(home, 'dist/cli/main.js')
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--no-auth'], {
    cwd: project,
    env: environment(project, 'data'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = () => {
    child.kill()
    return exited
  }
  for await (const line of createInterface(child.stdout)) {
    const url = /^listening on (\S+)$/.exec(line)?.[1]
    if (url !== undefined) return { url, stop }
  }
  throw new Error('the packed server ended before it listened')
}

async function runDocuments(project: string, programs: readonly Program[], url: string): Promise<number> {
  const printed = programs.filter(({ place }) => place.startsWith(DOCUMENTS))
  for (const { place, file, text, output } of printed) {
    writeFileSync(file, text.replaceAll(PAGE_URL, url))
    // Programs that name no server must not find this one by its data directory.
    const { stdout } = await run(process.execPath, [file], {
      cwd: project,
      env: environment(project, 'local'),
    })
    if (output !== undefined && stdout !== output) throw new Error(`${place} printed\n${stdout}`)
    if (stdout === '') throw new Error(`${place} printed nothing`)
  }
  return printed.length
}

const project = realpathSync(mkdtempSync(join(tmpdir(), 'package-')))
let server: { url: string; stop(): Promise<unknown> } | undefined
try {
  const home = await install(project)
  const programs = writePrograms(project)
  for (const name of ['nodenext', 'bundler'] as const) await compile(project, name)
  server = await serve(project, home)
  const count = await runDocuments(project, programs, server.url)
  console.log(`${programs.length} programs compile under nodenext and bundler; ${count} of the documents ran`)
} finally {
  await server?.stop()
  rmSync(project, { recursive: true })
}
