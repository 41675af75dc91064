import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Approval, unexplained } from './approval-oracle.ts'
import { type Act, readLog, recordingOf } from './terminal-log.ts'

const CARD = '● Bash  first\r\n? Permission\r\n    command: first\r\n  Bash  first\r\n'
const START = Date.UTC(2026, 0, 1)
const folder = mkdtempSync(join(tmpdir(), 'terminal-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Passed = readonly [at: number, kind: 'I' | 'O', text: string]

/** The files that `script` writes. */
function logged(passed: readonly Passed[]): string {
  const path = join(folder, 'terminal')
  const bytes = (kind: string) => passed.map(([, one, text]) => (one === kind ? text : '')).join('')
  const gaps = passed.map(([at, kind, text], index) => {
    const seconds = (at - (passed[index - 1]?.[0] ?? 0)) / 1000
    return `${kind} ${seconds.toFixed(6)} ${Buffer.byteLength(text)}\n`
  })
  writeFileSync(`${path}.out`, `Script started on today\n${bytes('O')}\nScript done on today\n`)
  writeFileSync(`${path}.in`, `Script started on today\n${bytes('I')}\nScript done on today\n`)
  writeFileSync(`${path}.timing`, `H 0.000000 SHELL /bin/bash\n${gaps.join('')}H 0.000000 EXIT_CODE 0\n`)
  return path
}

const types = (at: number, keys: string, isRepeat = false): Act => ({ at: START + at, keys, isRepeat })
const resizes = (at: number): Act => ({ at: START + at, columns: 60, rows: 20 })

const CASES: readonly [string, boolean, passed: readonly Passed[], acts: readonly Act[]][] = [
  [
    'a key right after this process saw a request that had been on the screen for long',
    true,
    [
      [0, 'I', 'x'],
      [1000, 'O', CARD],
      [1500, 'I', 'y'],
    ],
    [types(0, 'x'), types(1500, 'y')],
  ],
  [
    'a key that was written early and arrived late',
    true,
    [
      [0, 'I', 'x'],
      [1000, 'O', CARD],
      [1500, 'I', 'y'],
    ],
    [types(0, 'x'), types(900, 'y')],
  ],
  [
    'a key that arrived right after the request',
    false,
    [
      [0, 'I', 'x'],
      [1000, 'O', CARD],
      [1100, 'I', 'y'],
    ],
    [types(0, 'x'), types(1100, 'y')],
  ],
  [
    'a key that arrived together with an earlier one',
    false,
    [
      [0, 'I', 'x'],
      [1000, 'O', CARD],
      [1500, 'I', 'xy'],
    ],
    [types(0, 'x'), types(1000, 'x'), types(1500, 'y')],
  ],
  [
    'a repeat of a key that is held down',
    false,
    [
      [0, 'I', 'y'],
      [10, 'O', CARD],
      [1500, 'I', 'y'],
    ],
    [types(0, 'y'), types(1500, 'y', true)],
  ],
  [
    'a key right after a new size',
    false,
    [
      [0, 'I', 'x'],
      [1000, 'O', CARD],
      [1500, 'I', 'y'],
    ],
    [types(0, 'x'), resizes(1400), types(1500, 'y')],
  ],
  [
    'a key that the program did not read',
    false,
    [
      [0, 'I', 'x'],
      [1000, 'O', CARD],
    ],
    [types(0, 'x'), types(1500, 'y')],
  ],
  [
    'a key on a request whose characters arrived in pieces',
    true,
    [
      [0, 'I', 'x'],
      [1000, 'O', CARD],
      [1500, 'I', 'y'],
      [1700, 'O', 'später\r\n'],
    ],
    [types(0, 'x'), types(1500, 'y')],
  ],
]

test.each(CASES)('%s explains an approval by the clock of the terminal: %s', (_, expected, passed, acts) => {
  const recording = recordingOf(readLog(logged(passed)), { columns: 100, rows: 30 }, acts)
  const approval: Approval = { tool: 'Bash', subject: 'first', at: 2000 }
  expect(unexplained(recording, [approval])).toEqual(expected ? [] : [approval])
})
