/** npm packages that single scripts need, installed outside the repository so that a checkout stays small. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const INSTALL_MS = 300_000

function cacheFolder(environment: NodeJS.ProcessEnv): string {
  return join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mainstem', 'tools')
}

/** Runs npm in a new folder, and renames it when npm is done: an interrupted installation is never found. */
async function installOnce(
  name: string,
  args: readonly string[],
  files: Record<string, string>,
  { scripts = false } = {},
): Promise<string> {
  const cache = cacheFolder(process.env)
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'installing-'))
  try {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(unfinished, path), text)
    const options = [`--ignore-scripts=${!scripts}`, '--prefer-offline', '--loglevel=error']
    console.error(`npm installs ${name} into ${cache}, once for all checkouts`)
    await run('npm', [...args, ...options], { cwd: unfinished, timeout: INSTALL_MS })
    if (!existsSync(folder)) renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return folder
}

/** Installs a package at an exact version, or finds it installed. Returns the folder above its `node_modules`. */
export function installTool(name: string, version: string): Promise<string> {
  const files = { 'package.json': '{"private":true}' }
  return installOnce(`${name.replace('/', '+')}@${version}`, ['install', `${name}@${version}`], files)
}

/** Installs the manifest and lockfile of a folder, or finds them installed. Scripts of the packages run on request. */
export function installLocked(manifests: string, how?: { scripts: boolean }): Promise<string> {
  const names = ['package.json', 'package-lock.json']
  const texts = names.map((name) => readFileSync(join(manifests, name), 'utf8'))
  const hash = createHash('sha256').update(texts.join('')).digest('hex').slice(0, 16)
  const files = Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']))
  return installOnce(`${basename(manifests)}-${hash}`, ['ci'], files, how)
}

/** The path of a Node of this version. */
export async function installNode(version: string): Promise<string> {
  const platform = `${process.platform}-${process.arch}`
  const name = `${platform === 'darwin-arm64' ? 'node-bin' : 'node'}-${platform}`
  return join(await installTool(name, version), 'node_modules', name, 'bin', 'node')
}
