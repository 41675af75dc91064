import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { MAIN } from '../built-program.ts'

const run = promisify(execFile)

async function outputOf(name: string, input = ''): Promise<string> {
  const running = run(process.execPath, ['--import', './test/docs/fast.mjs', `examples/${name}.ts`])
  running.child.stdin?.end(input)
  return (await running).stdout
}

it('there are no examples but these; those of the client, of ues and of Slack have tests of their own', () => {
  const names = globSync('examples/*').map((path) => basename(path, '.ts'))
  expect(names.sort()).toEqual([
    'approve',
    'client',
    'parallel',
    'slack-bot',
    'slack-message',
    'stream',
    'summary',
    'ues',
  ])
})

it('stream shows messages, tool calls and the outcome', async () => {
  const output = await outputOf('stream')
  expect(output).toContain('I will read the code, watch a test fail, and only then change anything.\n')
  expect(output).toContain('[execute] node --test test/paginate.test.ts\n')
  expect(output).toMatch(/\ncompleted, \d+ tokens written\n$/)
})

it('approve allows what its rule allows, and nothing else', async () => {
  const lines = (await outputOf('approve')).split('\n')
  expect(lines.slice(0, 3)).toEqual([
    'allow Edit src/paginate.ts',
    'deny  Edit src/routes/feed.ts',
    'completed',
  ])
})

it('parallel asks all at once, and keeps their order', async () => {
  const question = 'What does this project do?'
  expect(await outputOf('parallel')).toBe([1, 2, 3].map((place) => `${place} echo: ${question}\n`).join(''))
})

it('summary says what became of a recording', async () => {
  const recording = 'src/agents/claude/fixtures/claude/two_tools/stdout.jsonl'
  const decode = [MAIN, 'decode', '--agent', 'claude', recording]
  const { stdout } = await run(process.execPath, decode)
  expect(await outputOf('summary', stdout)).toMatch(/^turn 1: completed, \w+ success × \d/)
})
