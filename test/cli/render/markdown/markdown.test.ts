import fc from 'fast-check'
import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { highlight } from '../../../../src/cli/render/markdown/highlight.ts'
import { Markdown } from '../../../../src/cli/render/markdown/markdown.ts'
import { widthOf } from '../../../../src/cli/render/wrap.ts'

interface Look {
  columns?: number
  colors?: boolean
}

function markdown({ columns = 40, colors = true }: Look = {}): Markdown {
  return new Markdown({
    columns,
    margin: '  ',
    first: '❯ ',
    colors: picocolors.createColors(colors),
    style: (text) => text,
  })
}

function laidOut(pieces: readonly string[], look?: Look): string {
  const layout = markdown(look)
  return pieces.map((piece) => layout.push(piece)).join('') + layout.end()
}

/** Without colours. */
const words = (text: string, look?: Look) => laidOut([text], look).replaceAll(/\x1b\[\d+m/g, '')

/** Text with everything that means something in Markdown. */
const source = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '*',
        '**',
        '_',
        '~~',
        '`',
        '```',
        '\n',
        '\n\n',
        '# ',
        '- ',
        '1. ',
        '> ',
        '| ',
        '|---|\n',
        '[x](y)',
        '[',
        '](',
        ')',
        '\\',
        ' ',
      ),
      fc.constantFrom('word', 'two words', '"text"', '// why', '漢字', '12', 'a_b'),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

test('in pieces or whole, a message reads the same', () => {
  fc.assert(
    fc.property(source, fc.array(fc.nat(9), { minLength: 1 }), (text, cuts) => {
      const pieces: string[] = []
      let from = 0
      for (let index = 0; from < text.length; index++) {
        const to = from + 1 + (cuts[index % cuts.length] ?? 0)
        pieces.push(text.slice(from, to))
        from = to
      }
      expect(laidOut(pieces)).toBe(laidOut([text]))
    }),
    { numRuns: 400 },
  )
})

test('no word is lost, and no line is wider than the terminal', () => {
  fc.assert(
    fc.property(source, fc.integer({ min: 16, max: 60 }), (text, columns) => {
      const shown = words(text, { columns })
      // An address that is its own text is shown once.
      const count = (all: string) => all.split('漢').length
      if (!text.includes('](')) expect(count(shown)).toBeGreaterThanOrEqual(count(text))
      for (const line of shown.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns)
    }),
    { numRuns: 300 },
  )
})

describe('blocks', () => {
  test.each([
    ['a heading has no marks', '# Why\ntext', '❯ Why\n  text\n'],
    [
      'an item hangs',
      '- one two three four five six seven eight',
      '❯ • one two three four five six seven\n    eight\n',
    ],
    ['a nested item is indented', '1. one\n   - two', '❯ 1. one\n     • two\n'],
    ['a task has its box', '- [x] done\n- [ ] open', '❯ ✔ done\n  ○ open\n'],
    ['a quote has a bar', '> said', '❯ │ said\n'],
    [
      'code is indented, and its marks are not shown',
      'so:\n```ts\nif (a) {\n  b()\n}\n```\nend',
      '❯ so:\n\n    ts\n    if (a) {\n      b()\n    }\n\n  end\n',
    ],
    ['marks in code mean nothing', '```\n# no **heading**\n```', '❯   # no **heading**\n'],
    ['several empty lines are one', 'a\n\n\n\nb', '❯ a\n\n  b\n'],
    ['a rule is a line', 'a\n***\nb', `❯ a\n  ${'─'.repeat(24)}\n  b\n`],
    ['a year is not an item', '2024 was', '❯ 2024 was\n'],
  ])('%s', (_, text, expected) => {
    expect(words(text)).toBe(expected)
  })

  test('a table is aligned and as wide as its cells', () => {
    expect(words('a\n| x | long |\n|--:|:--|\n| 1 | `a|b` |\n| 22 | c \\| d |')).toBe(
      '❯ a\n   x │ long\n  ───┼──────\n   1 │ a|b\n  22 │ c | d\n',
    )
  })

  test('cells that do not fit are wrapped between words, and many columns become records', () => {
    const table = '| File | Why |\n|---|---|\n| list.ts | it subtracts one from the page number |'
    expect(words(`.\n${table}`, { columns: 32 })).toBe(
      '❯ .\n  File    │ Why\n  ────────┼─────────────────────\n  list.ts │ it subtracts one\n          │ from the page number\n',
    )
    const wide = `|${' head |'.repeat(6)}\n|${'---|'.repeat(6)}\n|${' some longer value |'.repeat(6)}`
    expect(words(`.\n${wide}`, { columns: 40 })).toContain(
      '  head: some longer value\n  head: some longer value\n',
    )
  })
})

describe('inline', () => {
  test.each([
    ['**bold** and *italic*', 'bold and italic'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['an **open mark', 'an **open mark'],
    ['`**code**`', '**code**'],
    ['\\*not\\*', '*not*'],
    ['[docs](https://a.b/c) [https://x.y](https://x.y)', 'docs (https://a.b/c) https://x.y'],
    ['**a `b` c**', 'a b c'],
    ['~~old~~ ~5', 'old ~5'],
  ])('%s', (text, expected) => {
    expect(words(text, { columns: 80 })).toBe(`❯ ${expected}\n`)
  })

  test('words are printed as they come, up to a mark that is open', () => {
    const layout = markdown({ columns: 80 })
    expect(layout.push('The first pa')).toBe('❯ The first')
    expect(layout.push('ge **is ')).toBe(' page')
    expect(layout.push('gone** now ')).toBe(' \x1b[1mis\x1b[22m \x1b[1mgone\x1b[22m now')
  })

  test('an open mark is text after 2,000 characters, so a long line is not held back', () => {
    const layout = markdown({ columns: Number.POSITIVE_INFINITY })
    expect(layout.push(`*${'a '.repeat(1_100)}`)).toContain('*a a a')
  })

  test('without colours, marks that carry meaning stay', () => {
    expect(words('## Run\n`npm test`\n```sh\nls\n```', { colors: false })).toBe(
      '❯ ## Run\n  `npm test`\n\n  ```sh\n    ls\n  ```\n',
    )
  })
})

test('code is coloured without losing a character, and a comment may have several lines', () => {
  const code = { commentEnd: undefined }
  expect(highlight("const a = 'b' // c", 'ts', code).map(({ token }) => token)).toEqual([
    'keyword',
    'plain',
    'string',
    'plain',
    'comment',
  ])
  expect(highlight('1 /* open', 'ts', code).at(-1)?.token).toBe('comment')
  expect(highlight('still */ 2', 'ts', code)[0]).toEqual({ text: 'still */', token: 'comment' })
  fc.assert(
    fc.property(
      fc.string(),
      fc.constantFrom('ts', 'py', 'sql', 'html', 'diff', '', 'zig'),
      (line, language) => {
        const pieces = highlight(line, language, { commentEnd: undefined })
        expect(pieces.map(({ text }) => text).join('')).toBe(line)
      },
    ),
  )
})
