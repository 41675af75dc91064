import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Home } from '../mainstem-process.ts'

/** From the sources, because the files of a bundle have several modules. */
const SOURCE = join(import.meta.dirname, '../../../src/cli/main.ts')
const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())

/** Prints the address of every module that is loaded, at the end. */
const HOOK = `
import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
process.on('exit', () => writeSync(2, loaded.map((url) => 'loaded ' + url + '\\n').join('')))
`

/** What a client of the daemon does not need; each would cost tens of milliseconds at every start. */
const HEAVY = /node_modules\/(?:zod|fastify|@clack)\/|src\/(?:agents|gateway|sessions|drivers)\//

test.each([
  [['run', 'echo', 'hi']],
  [['run', 'echo', 'hi', '--json']],
  [['ls']],
  [['logs', 'last']],
  [['--help']],
  [['--version']],
])('%j loads neither the server nor the schemas', { timeout: 30_000 }, async (args) => {
  await home.mainstem(['run', 'echo', 'first', '--quiet'])
  const hook = join(home.path, 'hook.mjs')
  writeFileSync(hook, HOOK)
  const { err, code } = await home.spawned(args, '', { nodeOptions: ['--import', hook], main: SOURCE })
  expect(code).toBe(0)
  const loaded = [...err.matchAll(/^loaded (.+)$/gm)].map(([, url = '']) => url)
  expect(loaded.length).toBeGreaterThan(5)
  expect(loaded.filter((url) => HEAVY.test(url))).toEqual([])
})
