import { describe, expect, test } from 'vitest'
import { isDelivered, type TurnRead, withDelivered } from '../../../src/sessions/turns/delivery.ts'

const whole = (turn: number, seq = turn * 10): TurnRead => ({ turn, seq, ended: true })
const part = (turn: number, seq: number): TurnRead => ({ turn, seq, ended: false })
const having = (turns: number, ...reads: TurnRead[]) => withDelivered({}, reads, turns)

describe('turns that were delivered', () => {
  test('in order are one span, and every entry up to the last is delivered', () => {
    expect(having(3, whole(1), whole(2), whole(3))).toEqual({
      deliveredTurns: [{ first: 1, last: 3 }],
      delivered: 30,
    })
  })

  test('leave a gap for a turn that was not, and close it later', () => {
    const gap = having(3, whole(1), whole(3))
    expect(gap).toEqual({
      deliveredTurns: [
        { first: 1, last: 1 },
        { first: 3, last: 3 },
      ],
    })
    expect([15, 20].map((seq) => isDelivered(gap, { turn: 2, seq }))).toEqual([false, false])
    expect(isDelivered(gap, { turn: 3, seq: 30 })).toBe(true)
    expect(withDelivered(gap, [whole(2)], 3)).toMatchObject({ deliveredTurns: [{ first: 1, last: 3 }] })
  })

  test('include every entry up to the delivered one, of any turn and of none', () => {
    const all = having(2, whole(1), whole(2))
    expect(isDelivered(all, { turn: 9, seq: 20 })).toBe(true)
    expect(isDelivered(all, { seq: 20 })).toBe(true)
    expect(isDelivered(all, { seq: 21 })).toBe(false)
    expect(isDelivered(all, { turn: 9, seq: 21 })).toBe(false)
  })

  test('may end at an entry, which only moves forward until the turn has ended', () => {
    const some = having(1, part(1, 7), part(1, 5))
    expect(some).toEqual({ deliveredTurns: [{ first: 1, last: 1, seq: 7 }] })
    expect([7, 8].map((seq) => isDelivered(some, { turn: 1, seq }))).toEqual([true, false])
    expect(withDelivered(some, [whole(1), part(1, 5)], 1)).toEqual({
      deliveredTurns: [{ first: 1, last: 1 }],
      delivered: 10,
    })
  })

  test('are not all of them while one waits in the queue', () => {
    expect(having(2, whole(1))).toEqual({ deliveredTurns: [{ first: 1, last: 1 }] })
  })
})
