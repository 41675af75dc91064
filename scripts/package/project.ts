import { execFile } from 'node:child_process'
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
import { promisify } from 'node:util'

const run = promisify(execFile)
export const ROOT = resolve(import.meta.dirname, '../..')

/** A project of a user, with the packed package installed in it. */
export interface Project {
  readonly folder: string
  /** The folder of the installed package. */
  readonly home: string
}

/** Packs the built package and returns the path of the archive. */
async function pack(folder: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: ROOT })
  const [{ filename }] = JSON.parse(stdout)
  return join(folder, filename)
}

/** Unpacks the package. Its dependencies are links into this repository: no network, and an undeclared one is missing. */
async function link(folder: string, archive: string): Promise<void> {
  const home = join(folder, 'node_modules/mainstem')
  mkdirSync(home, { recursive: true })
  await run('tar', ['xzf', archive, '-C', home, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) {
    const path = join(folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), path)
  }
}

/** Installs the archive with npm, as a user does. The types of Node are those of this repository. */
async function install(folder: string, archive: string): Promise<void> {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const types = `@types/node@${devDependencies['@types/node']}`
  await run('npm', ['install', '--prefer-offline', '--loglevel=error', archive, types], { cwd: folder })
}

export async function createProject(how: 'link' | 'install'): Promise<Project & Disposable> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'package-')))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const archive = await pack(folder)
  await (how === 'link' ? link : install)(folder, archive)
  return {
    folder,
    home: join(folder, 'node_modules/mainstem'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

/** The environment of a user with a data directory of this name, and the programs in `bin` of the project. */
export function environment({ folder }: Project, data: string): NodeJS.ProcessEnv {
  const PATH = `${join(folder, 'bin')}${delimiter}${process.env.PATH}`
  return { PATH, HOME: folder, MAINSTEM_HOME: join(folder, data) }
}
