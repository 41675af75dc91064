import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A test left out by accident must not look like a passing suite.
    allowOnly: false,
    passWithNoTests: false,
  },
})
