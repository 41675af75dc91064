import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hrefOf, routeOf } from '../src/app/route.ts'
import { rank } from '../src/palette/rank.ts'
import { dueAt, scheduleOf } from '../src/replay/schedule.ts'
import { piecesOf } from '../src/search/by-session.ts'
import { countChanges, diffTexts, pairsOf, parseDiff } from '../src/text/diff.ts'
import { age, clockTime, cost, count, duration, shortPath } from '../src/text/format.ts'

describe('a difference of two texts', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })

  test('leads from one to the other', () => {
    fc.assert(
      fc.property(lines, lines, (left, right) => {
        const diff = diffTexts(`${left.join('\n')}\n`, `${right.join('\n')}\n`)
        const { added, removed } = countChanges(diff)
        expect(right.length - left.length).toBe(
          left.length && right.length ? added - removed : right.length - left.length,
        )
        const kept = (kinds: readonly string[]) =>
          diff.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text)
        // The visible parts of each side occur in it in this order.
        expect(isSubsequence(kept(['same', 'removed']), left.length ? left : [''])).toBe(true)
        expect(isSubsequence(kept(['same', 'added']), right.length ? right : [''])).toBe(true)
      }),
    )
  })

  test('shows a few lines around a change', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n')
    const diff = diffTexts(before, before.replace('line 10', 'changed'))
    expect(diff.map(({ kind }) => kind)).toEqual([
      'hunk',
      'same',
      'same',
      'same',
      'removed',
      'added',
      'same',
      'same',
      'same',
    ])
  })

  test('reads a unified diff without its headers', () => {
    const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+++ new\n\\ No newline at end of file\n'
    expect(parseDiff(diff)).toEqual([
      { kind: 'hunk', text: '@@ -1,2 +1,2 @@' },
      { kind: 'same', text: 'same', before: 1, after: 1 },
      { kind: 'removed', text: '-- old', before: 2 },
      { kind: 'added', text: '++ new', after: 2 },
    ])
  })

  test('has every line of a unified diff that someone decides about', () => {
    const diff = '--- a/x\n+++ b/x\nrm -rf /\n@@ -1,2 +1,2 @@\nunsigned\n-old\n\\ curl evil\n+new\n\n'
    expect(parseDiff(diff, true)).toEqual([
      { kind: 'hunk', text: '--- a/x' },
      { kind: 'hunk', text: '+++ b/x' },
      { kind: 'same', text: 'rm -rf /', before: 1, after: 1 },
      { kind: 'hunk', text: '@@ -1,2 +1,2 @@' },
      { kind: 'same', text: 'unsigned', before: 1, after: 1 },
      { kind: 'removed', text: 'old', before: 2 },
      { kind: 'hunk', text: '\\ curl evil' },
      { kind: 'added', text: 'new', after: 2 },
      { kind: 'same', text: '', before: 3, after: 3 },
    ])
  })

  test('numbers lines by their file', () => {
    const diff = '@@ -10,2 +20,2 @@ f()\n same\n-old\n+new\n'
    expect(parseDiff(diff).map(({ before, after }) => [before, after])).toEqual([
      [undefined, undefined],
      [10, 20],
      [11, undefined],
      [undefined, 21],
    ])
    expect(
      parseDiff('+only\n-a part').every(({ before, after }) => before === undefined && after === undefined),
    ).toBe(true)
  })

  test('stands in two columns with the lines that replace each other side by side', () => {
    const pairs = pairsOf(diffTexts('a\nb\nc\n', 'a\nx\ny\nc\n'))
    expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
      ['a', 'a'],
      ['b', 'x'],
      [undefined, 'y'],
      ['c', 'c'],
    ])
  })
})

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0
  for (const text of whole) if (text === part[at]) at++
  return at === part.length
}

test('figures are short and exact enough', () => {
  expect([clockTime(190_000), clockTime(3_727_000)]).toEqual(['3:10', '1:02:07'])
  expect([duration(850), duration(4_210), duration(190_000), duration(7_500_000)]).toEqual([
    '850 ms',
    '4.2 s',
    '3 m 10 s',
    '2 h 5 m',
  ])
  expect([age(10_000), age(240_000), age(7_200_000), age(200_000_000)]).toEqual(['now', '4m', '2h', '2d'])
  expect([count(812), count(12_400), count(123_456), count(1_300_000)]).toEqual([
    '812',
    '12.4k',
    '123k',
    '1.3M',
  ])
  expect([cost({ costUsd: 0.0042 }), cost({ costUsd: 1.5, partial: true }), cost({})]).toEqual([
    '$0.0042',
    '≥ $1.50',
    undefined,
  ])
  expect(shortPath('/home/someone/code/project')).toBe('…/code/project')
})

test.each([
  { screen: 'inbox' },
  { screen: 'new' },
  { screen: 'usage' },
  { screen: 'search', query: 'a b/c?' },
  { screen: 'compare', ids: ['x', 'y'] },
  { screen: 'session', id: 'a/b', tab: 'conversation', seq: undefined },
  { screen: 'session', id: 'x', tab: 'events', seq: 42 },
] as const)('the address of %j leads back to it', (route) => {
  expect(routeOf(hrefOf(route))).toEqual(route)
})

test.each(['#/sessions/%E0%A4%A', '#/sessions/x/events/-1', '#ticket=x', '#/nowhere'])(
  '%s leads somewhere',
  (hash) => {
    expect(routeOf(hash).screen).toMatch(/session|inbox/)
  },
)

test('a replay follows the recorded times, with long pauses shortened and no time going backwards', () => {
  const schedule = scheduleOf([{ at: 100 }, { at: 600 }, { at: 500 }, { at: 9_000_000 }])
  expect(schedule).toEqual([0, 500, 501, 3_501])
  expect([dueAt(schedule, 0), dueAt(schedule, 499), dueAt(schedule, 500), dueAt(schedule, 4_000)]).toEqual([
    1, 1, 2, 4,
  ])
})

test('the palette finds every word, the start of a name first', () => {
  const names = ['Usage', 'New session', 'This session: usage']
  expect(rank(names, 'usa', (name) => name)).toEqual(['Usage', 'This session: usage'])
  expect(rank(names, 'ses new', (name) => name)).toEqual(['New session'])
})

describe('a piece of a search result', () => {
  const shown = (snippet: string, ...marks: { start: number; end: number }[]) =>
    piecesOf({ snippet, marks })
      .map(({ text }) => text)
      .join('')

  test('has no signs of Markdown, and keeps an asterisk of a path', () => {
    expect(shown('## the *first* page of `src/*.ts`, **once**')).toBe('the first page of src/*.ts, once')
  })

  test('has code and paths as they are, without their fence', () => {
    expect(shown('So:\n```ts\n/** One page */\n```\nas in `src/**/*.ts`')).toBe(
      'So: /** One page */ as in src/**/*.ts',
    )
  })

  test('names the tool of a call once', () => {
    expect(shown('Write\nWrite src/page.ts', { start: 16, end: 20 })).toBe('Write src/page.ts')
  })
})
