import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mainstem } from '../../src/index.ts'
import type { AgentSession } from '../../src/library/session.ts'
import { EDITED } from '../edit-all.ts'

/** Reads its input to the end, then prints a recording. */
const PRINT = ['/bin/sh', '-c', 'cat > /dev/null; exec cat "$RECORDING"']

async function open(agent: string, recording: string): Promise<AgentSession> {
  const stem = mainstem({ agents: { [agent]: { command: PRINT, env: { RECORDING: recording } } } })
  onTestFinished(() => stem[Symbol.asyncDispose]())
  return stem.session({ agent, launch: 'oneshot', cwd: '/' })
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
  const session = await open('gemini', repeatedCalls(6))
  const paths: unknown[] = []
  for await (const { event } of session.prompt('go')) {
    if (event.type !== 'tool.started') continue
    const input = Object(event.input)
    paths.push(input.file_path)
    input.file_path = EDITED
  }
  expect(paths).toEqual(Array(6).fill('/workspace/hello.txt'))
})
