import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { secretsIn } from './src/mask/secrets.ts'

// A session delays text that may begin a key of the environment. A developer's keys would then change where the
// events of recorded agents are cut, so tests run without them.
for (const [name, value] of Object.entries(process.env)) {
  if (secretsIn({ [name]: value }).length > 0) delete process.env[name]
}

// The choice of every test that tries some cases of many.
process.env.MAINSTEM_TEST_SEED ??= String(Math.floor(Math.random() * 1e9))
const seed = process.env.MAINSTEM_TEST_SEED

export default defineConfig({
  // As in the build of the page, whose modules some tests import.
  resolve: {
    alias: [{ find: /^mainstem\/client$/, replacement: join(import.meta.dirname, 'src/client/index.ts') }],
  },
  test: {
    globalSetup: ['test/postgres/global-setup.ts', 'test/print-seed.ts'],
    include: ['test/**/*.test.ts', 'web/test/**/*.test.ts'],
    // A test left out by accident must not look like a passing suite.
    allowOnly: false,
    passWithNoTests: false,
    // Only for what hangs: a machine may be busy, and real programs take their time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Loading the sources again for each of several hundred files took longer than half of the tests. Nothing
    // in the sources keeps state in a module, so files may share them.
    isolate: false,
    // Tests wait for programs that they start and for disks more than they compute: two workers more than there are
    // cores take a tenth less time than one more. By default Vitest leaves one core free instead.
    maxWorkers: availableParallelism() + 2,
    // A module is transformed once, not in each run: two files of tests take half of the processor time.
    experimental: { fsModuleCache: true, fsModuleCachePath: join(import.meta.dirname, '.cache', 'modules') },
    // Programs that tests start run from the sources; compiling them once halves the time that takes.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, '.cache', 'compiled'), MAINSTEM_TEST_SEED: seed },
  },
})
