import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MAIN } from './built-program.ts'

/**
 * How many modules a start loads, and how many kilobytes they have, of the bundle and its dependencies. Counts do not
 * depend on the machine. If a start needs more for a reason, change the figure; if it needs much less, lower it.
 */
const BASELINE: Record<string, { modules: number; kilobytes: number }> = JSON.parse(
  readFileSync('test/load-counts.json', 'utf8'),
)

/** A wide margin: the test is for a dependency that everybody loads by accident. */
const MARGIN = 1.25

const HOOK = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
const sizes = []
registerHooks({ load: (url, context, next) => {
  const loaded = next(url, context)
  if (url.startsWith('file:')) sizes.push(loaded.source?.length ?? 0)
  return loaded
} })
const sum = () => sizes.reduce((sum, size) => sum + size, 0)
const hasFetch = () => process.moduleLoadList.some((name) => name.includes('undici'))
process.on('exit', () => writeSync(2, JSON.stringify([sizes.length, sum(), hasFetch()])))
`)}`

const dist = join(MAIN, '../..')
const importing = (path: string) => ['--input-type=module', '-e', `await import('${join(dist, path)}')`]

/** Also counts the module that imports. */
const STARTS: Readonly<Record<string, readonly string[]>> = {
  "import('mainstem')": importing('index.js'),
  "import('mainstem/client')": importing('client/node/index.js'),
  "import('mainstem/model')": importing('model/index.js'),
  'mainstem --version': [MAIN, '--version'],
  'mainstem --help': [MAIN, '--help'],
}

test('the baseline names each start', () => {
  expect(Object.keys(BASELINE).sort()).toEqual(Object.keys(STARTS).sort())
})

test.each(Object.entries(STARTS))(
  '%s loads about as many modules and bytes as its baseline',
  (name, args) => {
    const { stderr } = spawnSync(process.execPath, ['--import', HOOK, ...args], { encoding: 'utf8' })
    const [modules, bytes, hasFetch]: [number, number, boolean] = JSON.parse(stderr)
    const { modules: most = 0, kilobytes = 0 } = BASELINE[name] ?? {}
    const isNear = modules <= most * MARGIN && bytes <= kilobytes * 1000 * MARGIN
    expect({ modules, bytes, isNear }).toEqual({ modules, bytes, isNear: true })
    // The platform's `fetch` takes longer to load than all of it.
    expect(hasFetch).toBe(false)
  },
)
