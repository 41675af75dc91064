import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
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
    // Programs that tests start run from the sources; compiling them once halves the time that takes.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, '.cache', 'compiled') },
  },
})
