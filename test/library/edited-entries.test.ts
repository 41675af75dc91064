import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Answerer } from '../../src/index.ts'
import { type Entry, mainstem } from '../../src/index.ts'
import type { AgentSession } from '../../src/library/session.ts'
import { EDITED, editAll } from '../edit-all.ts'

const FIXTURES = join(import.meta.dirname, '../../src/agents')
/** Reads its input to the end, then prints a recording. */
const PRINT = ['/bin/sh', '-c', 'cat > /dev/null; exec cat "$RECORDING"']
const PLAY = [process.execPath, join(import.meta.dirname, '../ues/play.mjs')]

interface Played {
  agent: string
  recording: string
  onRequest?: Answerer
}

async function open({ agent, recording, ...request }: Played): Promise<AgentSession> {
  const isLive = recording.endsWith('transcript.jsonl')
  const command = isLive ? [...PLAY, recording] : PRINT
  const stem = mainstem({ agents: { [agent]: { command, env: { RECORDING: recording } } } })
  onTestFinished(() => stem[Symbol.asyncDispose]())
  return stem.session({ agent, launch: isLive ? 'live' : 'oneshot', cwd: '/', ...request })
}

/** The entries as text, each written before the consumer edits the entry. */
async function editWhileReading(entries: AsyncIterable<Entry>): Promise<string[]> {
  const texts: string[] = []
  for await (const entry of entries) {
    texts.push(JSON.stringify(entry))
    editAll(entry)
  }
  return texts
}

async function textsOf(entries: AsyncIterable<Entry>): Promise<string[]> {
  return (await Array.fromAsync(entries)).map((entry) => JSON.stringify(entry))
}

/** A recording of Gemini CLI in which one call repeats, each time with another id. */
function repeatedCalls(count: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'edited-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const stamp = { timestamp: '2026-11-15T20:05:54.505Z' }
  const calls = Array.from({ length: count }, (_, index) => {
    const tool_id = `read_file__call_${index}`
    const call = { tool_name: 'read_file', tool_id, parameters: { file_path: '/workspace/hello.txt' } }
    return { type: 'tool_use', ...stamp, ...call }
  })
  const lines = [{ type: 'init', ...stamp, session_id: 's', model: 'm' }, ...calls]
  const file = join(folder, 'stdout.jsonl')
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

test('editing the input of one call does not change the calls after it', async () => {
  const session = await open({ agent: 'gemini', recording: repeatedCalls(6) })
  const paths: unknown[] = []
  for await (const { event } of session.prompt('go')) {
    if (event.type !== 'tool.started') continue
    const input = Object(event.input)
    paths.push(input.file_path)
    input.file_path = EDITED
  }
  expect(paths).toEqual(Array(6).fill('/workspace/hello.txt'))
})

describe('editing every entry changes neither the log nor a later entry', () => {
  test.each([
    ['claude', 'claude/fixtures/claude/two_tools/stdout.jsonl'],
    ['claude', 'claude/fixtures/claude/subagent/stdout.jsonl'],
    ['claude', 'claude/fixtures/claude/bidi_multi/transcript.jsonl'],
    ['codex', 'codex/fixtures/codex/file/stdout.jsonl'],
    ['codex', 'codex/fixtures/codex/as_tools/transcript.jsonl'],
    ['gemini', 'gemini/fixtures/gemini/file_edit/stdout.jsonl'],
    ['opencode', 'opencode/fixtures/opencode/tool_bash/stdout.jsonl'],
    ['pi', 'pi/fixtures/pi/files/stdout.jsonl'],
  ])('%s, %s', async (agent, path) => {
    const session = await open({ agent, recording: join(FIXTURES, path) })
    const turn = session.prompt('go')
    const seen = await editWhileReading(turn)
    expect(seen.length).toBeGreaterThan(5)
    expect(seen.filter((text) => text.includes(EDITED))).toEqual([])
    expect(await textsOf(turn)).toEqual(seen)
    editAll(await turn.result())
    expect(JSON.stringify(await turn.result())).not.toContain(EDITED)
    expect(await textsOf(turn)).toEqual(seen)
  })
})

test('editing a request or its answer does not change the log', async () => {
  const recording = join(FIXTURES, 'claude/fixtures/claude/bidi_perm_allow/transcript.jsonl')
  const inputs: string[] = []
  const answer = { decision: 'allow', input: { command: 'echo other' } } as const
  const session = await open({
    agent: 'claude',
    recording,
    onRequest(request) {
      inputs.push(JSON.stringify(request.input))
      editAll(request)
      return answer
    },
  })
  const turn = session.prompt('go')
  const seen = await editWhileReading(turn)
  expect(inputs).toHaveLength(1)
  expect(seen.filter((text) => text.includes('"request.opened"'))).toHaveLength(1)
  expect(seen.filter((text) => text.includes(EDITED))).toEqual([])
  expect(await textsOf(turn)).toEqual(seen)
  expect(seen.join('')).toContain('"input":{"command":"echo other"}')
  editAll(answer)
  expect(await textsOf(turn)).toEqual(seen)
})
