import { expect, test } from 'vitest'
import { Recording, unexplained } from './approval-oracle.ts'

const CARD = '● Bash  first\n? Permission\n    command: first\n  Bash  first\n'

/** Plays steps at their times, and judges an approval of `first` at the end. */
function isExplained(
  ...steps: readonly (readonly [at: number, step: (recording: Recording) => void])[]
): boolean {
  let now = 0
  const recording = new Recording(30, () => now)
  for (const [at, step] of steps) {
    now = at
    step(recording)
  }
  return unexplained(recording, [{ tool: 'Bash', subject: 'first', at: now + 1 }]).length === 0
}

const shows = (text: string) => (recording: Recording) => recording.screen(text)
const types = (keys: string) => (recording: Recording) => recording.press(keys)
const repeats = (recording: Recording) => recording.press('y', true)
const resizes = (recording: Recording) => recording.resize(20)

test.each([
  [
    'a key after the request was read',
    true,
    [
      [0, shows(CARD)],
      [500, types('y')],
    ],
  ],
  [
    'a double tap',
    true,
    [
      [0, shows(CARD)],
      [500, types('yy')],
      [510, types('y')],
    ],
  ],
  ['no key', false, [[0, shows(CARD)]]],
  [
    'the late first repeat of a key that is held down',
    false,
    [
      [0, types('y')],
      [10, shows(CARD)],
      [500, repeats],
    ],
  ],
  [
    'a key before the request',
    false,
    [
      [0, types('y')],
      [100, shows(CARD)],
    ],
  ],
  [
    'a key right after the request',
    false,
    [
      [0, shows(CARD)],
      [100, types('y')],
    ],
  ],
  [
    'a key after other keys',
    false,
    [
      [0, shows(CARD)],
      [500, types('x')],
      [550, types('y')],
    ],
  ],
  [
    'a key before other keys',
    false,
    [
      [0, shows(CARD)],
      [500, types('y')],
      [510, types('e')],
    ],
  ],
  [
    'pasted text',
    false,
    [
      [0, shows(CARD)],
      [500, types('yes')],
    ],
  ],
  [
    'a key right after a resize',
    false,
    [
      [0, shows(CARD)],
      [450, resizes],
      [500, types('y')],
    ],
  ],
  [
    'a request without its input',
    false,
    [
      [0, shows('  Bash  first')],
      [500, types('y')],
    ],
  ],
  [
    'a request that was scrolled away',
    false,
    [
      [0, shows(`${CARD}${'\n'.repeat(40)}`)],
      [500, types('y')],
    ],
  ],
] as const)('%s explains an approval: %s', (_, expected, steps) => {
  expect(isExplained(...steps)).toBe(expected)
})
