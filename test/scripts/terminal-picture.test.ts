import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { picture } from '../../scripts/terminal-picture/svg.ts'
import { Terminal } from '../../scripts/terminal-picture/terminal.ts'

const written = (...outputs: readonly string[]) => {
  const terminal = new Terminal()
  for (const [at, output] of outputs.entries()) terminal.write(output, at)
  return terminal
}
const lines = ({ versions }: Terminal) =>
  versions.map(({ line, cells, from, until }) => [line, cells.map(({ text }) => text).join(''), from, until])

describe('the terminal of the picture', () => {
  it('keeps each state of a line with the times at which it is visible', () => {
    expect(lines(written('a', 'b\r\n', 'c'))).toEqual([
      [0, 'a', 0, 1],
      [0, 'ab', 1, undefined],
      [1, 'c', 2, undefined],
    ])
  })

  it('moves the cursor and erases as a terminal does', () => {
    expect(lines(written('work\r\x1b[2Kdone\r\nx\x1b[1A\rD')).at(0)).toEqual([0, 'Done', 0, undefined])
  })

  it('refuses a sequence that it would draw wrongly', () => {
    expect(() => written('\x1b[5;5H')).toThrow('CSI 5;5H')
    expect(() => written('\x1b[48m')).toThrow('style 48')
  })
})

it('the picture shows markup as text, colours as classes, and scrolls past the last row', () => {
  const svg = picture(written('\x1b[31m<b>\x1b[39m & c\r\n', 'two\r\n', 'three'), {
    columns: 20,
    rows: 2,
    hold: 1,
  })
  expect(svg).toContain('<tspan class="red">&lt;b&gt;</tspan> &amp; c</text>')
  expect(svg).toContain('translateY(-18px)')
  expect(svg).not.toMatch(/<script|https?:(?!\/\/www\.w3\.org)/)
})

// After a change of the demonstration: node scripts/terminal-picture.ts
it('the picture of the README has every line of the demonstration that fits its width', () => {
  const text = readFileSync('docs/demo.svg', 'utf8')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  const golden = readFileSync('test/cli/render/goldens/demo-terminal.txt', 'utf8').split('\n')
  const isFixed = (line: string) => line.length <= 88 && !line.includes('completed in')
  const missing = golden.filter((line) => isFixed(line) && !text.includes(line.trimEnd()))
  expect(golden.length).toBeGreaterThan(100)
  expect(missing).toEqual([])
})
