import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVitest } from 'vitest/node'
import { type Mutant, schemata } from './schemata.ts'

// A separate process, because a mutant may loop forever: the parent ends it and starts another.
const folder = process.env.MUTATE_FOLDER ?? ''
const mutants: Mutant[] = JSON.parse(readFileSync(join(folder, 'mutants.json'), 'utf8'))
const byFile = Map.groupBy(mutants, ({ file }) => file)

const vitest = await createVitest(
  'test',
  {
    watch: false,
    reporters: [{}],
    silent: true,
    bail: 1,
    globalSetup: [],
    setupFiles: [join(import.meta.dirname, 'setup.ts')],
    maxWorkers: 1,
    // A test that hangs is a noticed mutant.
    testTimeout: 10_000,
    hookTimeout: 10_000,
    expect: { poll: { timeout: 5_000 } },
  },
  {
    plugins: [
      {
        name: 'mutants',
        enforce: 'pre',
        transform(source, id) {
          const own = byFile.get(id.replace(/\?.*/, ''))
          return own ? { code: schemata(source, own), map: null } : undefined
        },
      },
    ],
  },
)
await vitest.standalone()

/** Runs test files with one mutant on (0: none). The first failed test ends the run. */
async function run(
  id: number,
  files: readonly string[],
): Promise<{ failed: string[]; ms: Record<string, number>; passed: Record<string, number> }> {
  writeFileSync(join(folder, 'chosen'), String(id))
  const specs = await vitest.globTestSpecifications([...files])
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specs)
  const failed = unhandledErrors.map(String)
  const ms: Record<string, number> = {}
  const passed: Record<string, number> = {}
  for (const module of testModules) {
    ms[module.moduleId] = module.diagnostic().duration
    passed[module.moduleId] = [...module.children.allTests('passed')].length
    if (module.state() === 'failed') failed.push(module.moduleId)
  }
  return { failed, ms, passed }
}

process.on('message', async ({ id, files }: { id: number; files: string[] }) => {
  try {
    process.send?.(await run(id, files))
  } catch (thrown) {
    process.send?.({ failed: [String(thrown)], ms: {}, passed: {} })
  }
})
// The parent has ended.
process.on('disconnect', () => process.exit())
process.send?.('ready')
