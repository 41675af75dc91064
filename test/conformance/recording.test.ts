import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { redacted } from '../../scripts/redacted.ts'

const root = mkdtempSync(join(tmpdir(), 'tee-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Runs a program of one line behind the one that records it, and says this to it. */
async function tee(kind: 'live' | 'oneshot', folder: string, program: string, said: string) {
  const args = ['conformance/tee.ts', kind, join(root, folder), process.execPath, '-e', program]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(said)
  let heard = ''
  child.stdout.on('data', (chunk) => {
    heard += String(chunk)
  })
  const [code, signal] = await once(child, 'close')
  const file = (name: string) => readFileSync(join(root, folder, name), 'utf8')
  return { heard, code, signal, file }
}

describe('a recording', () => {
  it('of a one-shot run is its output, its errors and its end', async () => {
    const program = 'console.log("{}"); console.error("oh"); process.exitCode = 3'
    const { heard, code, file } = await tee('oneshot', 'oneshot', program, 'a prompt')
    expect([heard, code]).toEqual(['{}\n', 3])
    expect(file('stdout.jsonl')).toBe('{}\n')
    expect(file('stderr.txt')).toBe('oh\n')
    expect(JSON.parse(file('exit.json'))).toEqual({ code: 3, signal: null })
  })

  it('of a live run has both directions', async () => {
    const program =
      'process.stdin.on("data", (d) => process.stdout.write(JSON.stringify({ re: JSON.parse(d) }) + "\\n"))'
    const { heard, code, file } = await tee('live', 'live', program, '{"id":1}\n')
    expect([heard, code]).toEqual(['{"re":{"id":1}}\n', 0])
    const lines = file('transcript.jsonl').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { dir: 'in', msg: { id: 1 } },
      { dir: 'out', msg: { re: { id: 1 } } },
    ])
  })

  it('of a program that dies by a signal says so, and dies the same way', async () => {
    const program = 'process.kill(process.pid, "SIGTERM")'
    const { signal, file } = await tee('oneshot', 'signal', program, '')
    expect(signal).toBe('SIGTERM')
    expect(JSON.parse(file('exit.json'))).toEqual({ code: null, signal: 'SIGTERM' })
  })

  it('of a second process has a separate folder', async () => {
    await tee('oneshot', 'twice', 'console.log(1)', '')
    await tee('oneshot', 'twice', 'console.log(2)', '')
    expect(existsSync(join(root, 'twice_2', 'exit.json'))).toBe(true)
  })
})

describe('redaction', () => {
  it.each([
    ['the workspace', '{"cwd":"/tmp/x/work/a.txt"}', '{"cwd":"/workspace/a.txt"}'],
    ['the home of the cell', '/tmp/x/home/.codex', '/home/user/.codex'],
    ['what else is in its folder', '/tmp/x/tee', '/scratch/tee'],
    ['the home of the user', `${homedir()}/.cache`, '/home/user/.cache'],
    ['ports', 'http://127.0.0.1:40123/v1', 'http://127.0.0.1:4711/v1'],
    ['keys', 'sk-ant-0123456789abcdef', 'sk-redacted'],
    ['tokens', 'Bearer abcdefghijkl', 'Bearer redacted'],
  ])('%s', (_name, text, expected) => {
    expect(redacted(text, '/tmp/x')).toBe(expected)
  })
})
