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
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Plugin } from 'vite'

const ROOT = resolve(import.meta.dirname, '../..')
const BUILDS = join(ROOT, 'node_modules/.cache/mainstem-page')
/** Everything that the page is built from. */
const SOURCES = [
  'web/src/**/*',
  'web/public/**/*',
  'web/index.html',
  'web/*.ts',
  'src/**/*.ts',
  'package-lock.json',
]
/** Builds of other sources are removed after this time; another run may still use them. */
const KEPT_MS = 3_600_000

/** A change of one source, to see that a test notices it. */
export interface Plant {
  /** The path of the source below the page. */
  file: string
  from: string
  to: string
}

/** Where the page of these sources is, once `buildPage` has settled. Tests of one source share one build. */
export function pageFolder(plants: readonly Plant[] = []): string {
  const hash = createHash('sha256').update(JSON.stringify(plants))
  for (const path of globSync(SOURCES, { cwd: ROOT }).sort()) {
    const file = join(ROOT, path)
    if (statSync(file).isFile()) hash.update(path).update(readFileSync(file))
  }
  return join(BUILDS, hash.digest('hex').slice(0, 16))
}

/** Builds the page, unless it is there. Two runs at the same time may both build it, and one of the two is kept. */
export async function buildPage(folder: string, plants: readonly Plant[] = []): Promise<void> {
  if (existsSync(folder)) return
  mkdirSync(BUILDS, { recursive: true })
  removeOld()
  const outDir = mkdtempSync(join(BUILDS, 'draft-'))
  await asInPackage(async () => {
    const { build } = await import('vite')
    await build({
      configFile: join(ROOT, 'web/vite.config.ts'),
      logLevel: 'error',
      plugins: plants.map(planting),
      build: { outDir, emptyOutDir: true },
    })
  })
  try {
    renameSync(outDir, folder)
  } catch (thrown) {
    rmSync(outDir, { recursive: true })
    if (!existsSync(folder)) throw thrown
  }
}

/** Vitest sets NODE_ENV to "test", for which React builds its slower version for developers. */
async function asInPackage(build: () => Promise<void>): Promise<void> {
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  try {
    await build()
  } finally {
    process.env.NODE_ENV = NODE_ENV
  }
}

function planting({ file, from, to }: Plant): Plugin {
  return {
    name: `plant in ${file}`,
    enforce: 'pre',
    transform(code, id) {
      if (id !== join(ROOT, 'web', file)) return undefined
      if (code.split(from).length !== 2) throw new Error(`${file} has to have this once: ${from}`)
      return { code: code.replace(from, () => to), map: null }
    },
  }
}

function removeOld(): void {
  for (const name of globSync('*', { cwd: BUILDS })) {
    const path = join(BUILDS, name)
    // Another worker may remove it at the same time.
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && found.mtimeMs < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}
