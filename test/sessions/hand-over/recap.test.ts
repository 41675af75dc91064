import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry, Event } from '../../../src/model/index.ts'
import { RecapFold } from '../../../src/sessions/hand-over/recap.ts'
import { runs } from '../../long.ts'

function recapOf(events: readonly [turn: number, event: Event][]) {
  const fold = new RecapFold()
  for (const [index, [turn, event]] of events.entries()) {
    const entry: Entry = { seq: index + 1, session: 's', turn, at: 0, event }
    fold.add(entry)
  }
  return fold.write('claude (opus) worked on this session until now, and you continue it.')
}

const began = (turn: number, prompt?: string): [number, Event] => [
  turn,
  { type: 'turn.started', turn, origin: 'prompt', ...(prompt !== undefined && { prompt }) },
]
const said = (turn: number, text: string, parent?: string): [number, Event] => [
  turn,
  { type: 'text.completed', messageId: `m${turn}`, text, ...(parent !== undefined && { parent }) },
]
const ended = (turn: number, outcome: 'completed' | 'failed' = 'completed'): [number, Event] => [
  turn,
  { type: 'turn.completed', turn, outcome, durationMs: 1, denials: 0 },
]

test('a recap has the prompts, the files, the plan, the last message and the outcome of each turn', () => {
  const { recap, omitted } = recapOf([
    began(1, 'Fix the bug'),
    said(1, 'I will look.'),
    said(1, 'a note of a sub-agent', 'agent-1'),
    [1, { type: 'file.changed', path: '/work/a.ts', change: 'modified' }],
    [1, { type: 'file.changed', path: '/work/b.ts', change: 'created' }],
    [1, { type: 'plan.updated', items: [{ text: 'test it', status: 'pending' }] }],
    [1, { type: 'turn.steered', turn: 1, prompt: 'Use vitest', effect: 'folded' }],
    said(1, 'The secret word is heron.'),
    ended(1),
    began(2, 'Go on'),
    ended(2, 'failed'),
  ])
  expect(omitted).toBe(0)
  expect(
    recap,
  ).toBe(`[Recap by Mainstem: claude (opus) worked on this session until now, and you continue it. The recap is made from the log, by rule. Files may have changed since: look before you rely on it.]

Turn 1 (completed)
Prompt: Fix the bug
Prompt: Use vitest
Plan: pending: test it
Files: modified /work/a.ts, created /work/b.ts
Last message: The secret word is heron.

Turn 2 (failed)
Prompt: Go on

[End of the recap. The next prompt:]`)
})

test('of a long session the newest turns are kept, and the number of the others is named', () => {
  const turns = Array.from({ length: 100 }, (_, index) => index + 1)
  const { recap, omitted } = recapOf(
    turns.flatMap((turn) => [began(turn, `prompt ${turn}`), said(turn, 'x'.repeat(3_000)), ended(turn)]),
  )
  expect(recap.length).toBeLessThan(30_000)
  expect(recap).toContain('prompt 100')
  expect(recap).not.toContain('prompt 1\n')
  expect(recap).toContain(`${omitted} earlier turns are left out`)
  expect(omitted).toBeGreaterThan(80)
})

test('a recap is bounded, and cuts no character in half', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 9_000 })
  fc.assert(
    fc.property(
      text,
      text,
      fc.array(fc.string({ maxLength: 400 }), { maxLength: 200 }),
      (prompt, answer, paths) => {
        const files = paths.map((path): [number, Event] => [
          1,
          { type: 'file.changed', path, change: 'deleted' },
        ])
        const { recap } = recapOf([began(1, prompt), ...files, said(1, answer), ended(1)])
        expect(recap.length).toBeLessThan(30_000)
        expect(recap.isWellFormed()).toBe(true)
      },
    ),
    { numRuns: runs(20, 500) },
  )
})
