import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../scripts/bundle.ts'

const ROOT = join(import.meta.dirname, '..')
const BUILDS = join(ROOT, '.cache/programs')
/** Builds of other sources are removed after this time; another run may still use them. */
const KEPT_MS = 3_600_000

/** What the package has beside its bundle. */
const BESIDE = ['package.json', 'docs', 'dist/web']

/** The command line program, bundled as in the package: a process of it starts in two thirds of the time. */
export const MAIN: string = join(await build(), 'dist/cli/main.js')

/** Bundles the sources, unless it was done. Two runs at the same time may both do it, and one of the two is kept. */
async function build(): Promise<string> {
  const hash = createHash('sha256')
  for (const path of [...globSync('src/**/*.ts', { cwd: ROOT }).sort(), 'scripts/bundle.ts'])
    hash.update(path).update(readFileSync(join(ROOT, path)))
  const folder = join(BUILDS, hash.digest('hex').slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(BUILDS, { recursive: true })
  removeOld()
  const draft = mkdtempSync(join(BUILDS, 'draft-'))
  await bundle(join(draft, 'dist'))
  for (const name of BESIDE) symlinkSync(join(ROOT, name), join(draft, name))
  try {
    renameSync(draft, folder)
  } catch (thrown) {
    rmSync(draft, { recursive: true })
    if (!existsSync(folder)) throw thrown
  }
  return folder
}

function removeOld(): void {
  for (const name of globSync('*', { cwd: BUILDS })) {
    const path = join(BUILDS, name)
    if (statSync(path).mtimeMs < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}
