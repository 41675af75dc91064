import { expect, test } from 'vitest'
import { openTalk } from './claude-talk.ts'

const arrays = ['[1,2]', '[]', '["a",{}]']

test.each(arrays)('an array that is not a list of messages (%s) is one line of output', (line) => {
  expect(openTalk().hear(JSON.parse(line))).toEqual([{ type: 'output.written', stream: 'stdout', line }])
})
