import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decodeRecording } from '../../../src/compose/decode.ts'
import { execute, OutputEvent } from '../../../src/dialects/execute.ts'
import { projectAll } from '../entries.ts'

const FIXTURES = join(import.meta.dirname, '../../../src/agents/claude/fixtures/claude')

function play(scenario: string) {
  const folder = join(FIXTURES, scenario)
  const names = readdirSync(folder)
  const stdout = names.includes('transcript.jsonl') ? 'transcript.jsonl' : 'stdout.jsonl'
  const { entries } = decodeRecording({
    agent: 'claude',
    stdout: [readFileSync(join(folder, stdout))],
    stderr: [readFileSync(join(folder, 'stderr.txt'))],
    exit: JSON.parse(readFileSync(join(folder, 'exit.json'), 'utf8')),
  })
  return projectAll(execute, entries)
}

const textOf = (scenario: string) =>
  play(scenario)
    .filter(({ kind }) => kind === 'agent_token')
    .map(({ text }) => text)
    .join('')

describe('every recording', () => {
  const scenarios = readdirSync(FIXTURES)

  test('is there', () => {
    expect(scenarios.length).toBeGreaterThan(50)
  })

  test.each(scenarios)('%s is a valid stream with one end', (scenario) => {
    const messages = play(scenario)
    for (const message of messages) expect(OutputEvent.safeParse(message).error).toBeUndefined()
    const kinds = messages.map(({ kind }) => kind)
    expect(kinds.at(-1)).toBe('session_end')
    expect(kinds.filter((kind) => kind === 'session_end')).toHaveLength(1)
  })
})

test('a reply whose stream broke twice is emitted once', () => {
  expect(textOf('drop')).toBe('Hello from the fake model. This is a streamed reply in several deltas.')
})

test('a recorded tool call has its start, its end, its result and the usage', () => {
  expect(play('tool_bash').map(({ kind, status }) => status ?? kind)).toEqual([
    'agent_token',
    'started',
    'completed',
    'tool_result',
    'agent_token',
    'usage',
    'session_end',
  ])
})
