import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { Program } from './programs.ts'

/** The path of a program, or the reason why it is not installed. */
export type Installed = { readonly command: string } | { readonly failed: string }

const run = promisify(execFile)

const INSTALL_MS = 300_000
const VERSION_MS = 60_000

/** Outside the repository, so that a fresh checkout finds what an earlier one installed. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mainstem', 'conformance')
}

/** Written when an installation is complete. */
const PROVEN = 'proven.json'

/** Installs a program at its exact version, unless it is installed. Returns a failure instead of throwing it. */
export async function install(program: Program, cache = cacheFolder()): Promise<Installed> {
  // By command, because variants of a program share an installation.
  const folder = join(cache, `${program.bin}@${program.version}`)
  const command = join(folder, 'node_modules', '.bin', program.bin)
  const proven = join(folder, PROVEN)
  try {
    if (!existsSync(proven)) await installApart(program, cache, folder)
    const version = installedVersion(program, folder)
    if (version !== program.version) return { failed: `npm installed ${version} for ${program.version}` }
    return { command }
  } catch (thrown) {
    return { failed: reasonOf(thrown) }
  }
}

/** Installs beside the final folder and renames, so that two runs that install the same program do not meet. */
async function installApart(program: Program, cache: string, folder: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const apart = await mkdtemp(`${folder}.`)
  try {
    await fetch(program, apart)
    await answers(join(apart, 'node_modules', '.bin', program.bin))
    const version = JSON.stringify({ version: installedVersion(program, apart) })
    await writeFile(join(apart, PROVEN), `${version}\n`)
    if (!existsSync(join(folder, PROVEN))) await rm(folder, { recursive: true, force: true })
    await rename(apart, folder).catch((thrown) => {
      // Another run was faster.
      if (!existsSync(join(folder, PROVEN))) throw thrown
    })
  } finally {
    await rm(apart, { recursive: true, force: true })
  }
}

async function fetch(program: Program, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const manifest = { private: true, allowScripts: { [program.package]: true } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const wanted = `${program.package}@${program.version}`
  const args = ['install', '--prefix', folder, '--save-exact', '--no-audit', '--no-fund', wanted]
  await run('npm', args, { cwd: folder, timeout: INSTALL_MS, env: withOurNode() })
}

/** A package without the binary for this machine installs well, and does not run. */
async function answers(command: string): Promise<void> {
  await run(command, ['--version'], { timeout: VERSION_MS, env: withOurNode() })
}

/** Programs that are scripts run with the Node that runs this. */
function withOurNode(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` }
}

const Manifest = z.object({ version: z.string() })

function installedVersion(program: Program, folder: string): string {
  const path = join(folder, 'node_modules', program.package, 'package.json')
  return Manifest.parse(JSON.parse(readFileSync(path, 'utf8'))).version
}

/** The line of npm's output with the error, or the message. */
function reasonOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const lines = message.split('\n').filter((line) => line.trim() !== '')
  return lines.find((line) => /^npm (?:error|ERR!) (?!code)/.test(line)) ?? lines[0] ?? message
}
