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
  },
})
