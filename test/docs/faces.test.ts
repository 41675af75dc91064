import { execFile } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { SessionEvent } from '../../src/dialects/board/board-event.ts'
import { pageServer } from './page-server.ts'
import { blocksOf, pages } from './pages.ts'

const run = promisify(execFile)

/** What is another one each time: ids, times and durations. */
const constant = (text: string) =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
    .replaceAll(/"workingDirectory":"[^"]*"/g, '"workingDirectory":"HERE"')
    .trimEnd()

/** The calls of a page in their order, each with the output that is printed below it. */
function callsOf(path: string) {
  const blocks = pages.filter((page) => page.path === path).flatMap(blocksOf)
  return blocks.flatMap(({ language, text, place }, index) =>
    language === 'sh' && text.includes('curl ')
      ? [{ place, command: text, output: blocks[index + 1]?.text ?? '' }]
      : [],
  )
}

const server = pageServer()

it.each([
  ['docs/compatibility/board.md', 3],
  ['docs/compatibility/unified.md', 3],
])('%s shows calls that are answered as it says', async (path, count) => {
  const calls = callsOf(path)
  expect(calls).toHaveLength(count)
  // The programs of the page find the Node that runs this.
  const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
  for (const { place, command, output } of calls) {
    const here = command.replaceAll('127.0.0.1:7380', new URL(server.url).host)
    const { stdout } = await run('bash', ['-c', here], { env })
    expect(constant(stdout), place).toBe(constant(output))
  }
})

it('docs/compatibility/board.md shows a real program as the schema has it', () => {
  const page = pages.find(({ path }) => path === 'docs/compatibility/board.md') ?? { path: '', text: '' }
  const section = page.text.split('## With a real program')[1]?.split('\n## ')[0] ?? ''
  const lines = blocksOf({ ...page, text: section }).flatMap(({ text }) => text.trimEnd().split('\n'))
  expect(lines.pop()).toBe('1000 done')
  const events = lines.map((line) => SessionEvent.parse(JSON.parse(line)))
  expect(events.map(({ type }) => type)).toEqual(['log', 'action', 'toolResult', 'log'])
})
