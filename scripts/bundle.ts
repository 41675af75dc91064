/** `node scripts/bundle.ts <folder>`: bundles the sources. The types beside the bundle are written by tsc. */
import { copyFileSync, globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')

/** The modules that something outside of the bundle names: `package.json`, a worker thread, a program of its own, a test. */
const ENTRIES = [
  'index.ts',
  'cli/{main,program}.ts',
  'client/{,node/,adapters/,stdio/}index.ts',
  'model/index.ts',
  'testing/{index,recorded-program}.ts',
  'ues/index.ts',
  'stores/**/*-thread.ts',
  'drivers/tree/orphan-bound.ts',
  'drivers/tree/orphan-sweep.ts',
]

/**
 * What becomes a part of the bundle. zod is 95 files, 64 of them languages that we do not use. The helpers of Rolldown
 * replace syntax that the oldest supported Node does not have. Other dependencies are imported where they are installed.
 */
const INSIDE = /^(?:zod$|@oxc-project\/|[./\0])/

/** An import of named exports of Node, as Rolldown writes it. */
const FROM_NODE = /^import (\{[^}]*\}) from ("node:[^"]+");$/gm

/**
 * Takes functions of Node from its modules without an `import`, which reads all exports of a module: that of `node:http`
 * loads the platform's `fetch`, and takes longer than the start of Node.
 */
const nodeWithoutImports: Plugin = {
  name: 'node-without-imports',
  renderChunk: (code) => {
    const taken = (_: string, names: string, from: string) =>
      `const ${names.replaceAll(' as ', ': ')} = process.getBuiltinModule(${from});`
    return { code: code.replaceAll(FROM_NODE, taken), map: null }
  },
}

/** Stands for the place of a module until the place of its chunk is known. */
const PLACE = /"mainstem-place:([^"]+)"/g

/**
 * Lets `import.meta.url` name the place that the module would have without the bundle, because modules find their
 * neighbours, `package.json` and the page relative to it.
 */
const ownPlaces: Plugin = {
  name: 'own-places',
  transform: {
    filter: { code: 'import.meta.url' },
    handler: (code, id) => {
      const path = relative(SRC, id).replace(/ts$/, 'js')
      return { code: code.replaceAll('import.meta.url', `"mainstem-place:${path}"`), map: null }
    },
  },
  renderChunk: (code, { fileName }) => {
    if (code.search(PLACE) === -1) return null
    const place = (_: string, path: string) =>
      `new URL(${JSON.stringify(relative(dirname(fileName), path))}, import.meta.url).href`
    return { code: code.replace(PLACE, place), map: null }
  },
}

/** Bundles the sources into `folder`: one file for each entry, and chunks for what entries share. */
export async function bundle(folder: string): Promise<void> {
  const files = ENTRIES.flatMap((pattern) => globSync(pattern, { cwd: SRC }))
  await using build = await rolldown({
    input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ''), join(SRC, file)])),
    platform: 'node',
    external: (id) => !INSIDE.test(id),
    transform: { target: 'es2024' },
    plugins: [ownPlaces, nodeWithoutImports],
  })
  await build.write({
    dir: folder,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { jsdoc: false, annotation: true, legal: true },
    // Stack traces name lines of the sources; the sources themselves are not in the package.
    sourcemap: true,
    sourcemapExcludeSources: true,
  })
  copyFileSync(join(ROOT, 'node_modules/zod/LICENSE'), join(folder, 'chunks/zod-LICENSE'))
}

const [folder] = process.argv.slice(2)
if (import.meta.main && folder !== undefined) await bundle(folder)
