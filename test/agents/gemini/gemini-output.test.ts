import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { KEEPS_OUTPUT } from '../../../src/agents/gemini/program.ts'

const LENGTH = 1024 * 1024

/** Ends as Gemini does, and tells what its own children would inherit. */
const HASTY = `
process.stdout.write('x'.repeat(${LENGTH}))
process.stdout.write(' NODE_OPTIONS is ' + process.env.NODE_OPTIONS)
process.exit()`

test('a program that exits before its output is read loses none of it, and its children inherit nothing', async () => {
  const child = spawn(process.execPath, ['-e', HASTY], {
    env: { PATH: process.env.PATH, ...KEEPS_OUTPUT },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const piece of child.stdout) output += piece
  expect(output.length).toBeGreaterThan(LENGTH)
  expect(output.slice(LENGTH)).toBe(' NODE_OPTIONS is undefined')
})
