import { describe, expect, test } from 'vitest'
import { NativeId } from '../../../src/sessions/machine/native-id.ts'

const GONE = { error: { code: 'session_not_found', message: 'no such session' } } as const
const OTHER = { error: { code: 'rate_limited', message: 'later' } } as const

function resuming(ids: ConstructorParameters<typeof NativeId>[0]): NativeId {
  const id = new NativeId(ids)
  id.launch()
  return id
}

describe('a turn that ended by itself', () => {
  test('keeps a proven id unless the agent does not know it', () => {
    const kept = resuming({ proven: 'a' })
    expect(kept.turnEnded(OTHER)).toBe(false)
    expect(kept.turnEnded({})).toBe(false)
    expect(kept.ids).toEqual({ proven: 'a', announced: undefined })
    expect(kept.turnEnded(GONE)).toBe(false)
    expect(kept.ids.proven).toBeUndefined()
  })

  test('drops an announced id that the agent does not know, and the prompt can be sent again', () => {
    const id = resuming({ announced: 'a' })
    expect(id.turnEnded(GONE)).toBe(true)
    expect(id.ids).toEqual({ proven: undefined, announced: undefined })
    expect(id.launch()).toBeUndefined()
  })

  test('drops an announced id that was never opened, whatever the error', () => {
    const id = resuming({ announced: 'a' })
    expect(id.turnEnded(OTHER)).toBe(false)
    expect(id.ids.announced).toBeUndefined()
  })

  test('keeps an announced id that the agent has opened', () => {
    const id = resuming({ announced: 'a' })
    expect(id.announce('a')).toBeUndefined()
    expect(id.turnEnded(OTHER)).toBe(false)
    expect(id.ids.announced).toBe('a')
  })

  test('keeps the ids of a process that resumed nothing', () => {
    const id = resuming({})
    id.announce('new')
    expect(id.turnEnded(GONE)).toBe(false)
    expect(id.ids.announced).toBe('new')
  })
})

test('a proven id is resumed before an announced one', () => {
  expect(new NativeId({ proven: 'a', announced: 'b' }).launch()).toBe('a')
  expect(new NativeId({ announced: 'b' }).launch()).toBe('b')
})

test('an agent that opens another session than the one to resume is noticed once', () => {
  const id = resuming({ proven: 'a' })
  expect(id.announce('b')).toBe('a')
  expect(id.announce('c')).toBeUndefined()
  expect(id.ids).toEqual({ proven: 'a', announced: 'c' })
})

test('an id that is not safe on a command line is ignored', () => {
  const id = resuming({ proven: 'a' })
  expect(id.announce('--help; rm')).toBeUndefined()
  expect(id.announce(undefined)).toBeUndefined()
  expect(id.ids).toEqual({ proven: 'a', announced: undefined })
})

test('work proves the named id, or else the resumed one', () => {
  const named = resuming({ proven: 'a' })
  named.announce('b')
  named.prove()
  expect(named.ids).toEqual({ proven: 'b', announced: undefined })
  const resumed = resuming({ announced: 'c' })
  resumed.prove()
  expect(resumed.ids).toEqual({ proven: 'c', announced: undefined })
  const none = resuming({})
  none.prove()
  expect(none.ids.proven).toBeUndefined()
})

test('an announced id is uncertain until the agent names it', () => {
  const id = resuming({ announced: 'a' })
  expect(id.isUncertain).toBe(true)
  id.announce('a')
  expect(id.isUncertain).toBe(false)
  expect(resuming({ proven: 'a' }).isUncertain).toBe(false)
  expect(resuming({}).isUncertain).toBe(false)
})

test('the next process starts without the name that the last one announced', () => {
  const id = resuming({ announced: 'a' })
  id.announce('a')
  id.launch()
  expect(id.isUncertain).toBe(true)
})

test('adopting another conversation replaces both ids', () => {
  const id = new NativeId({ proven: 'a', announced: 'b' })
  id.adopt('c')
  expect(id.ids).toEqual({ proven: 'c', announced: undefined })
})

describe('a process that ended within its turn', () => {
  test('leaves an id that it worked with for the first time as announced, so that a failed resume costs no prompt', () => {
    const id = resuming({})
    id.announce('a')
    id.begin()
    id.prove()
    id.cut()
    expect(id.ids).toEqual({ proven: undefined, announced: 'a' })
    expect(id.launch()).toBe('a')
    expect(id.turnEnded(GONE)).toBe(true)
  })

  test('keeps an id that an earlier turn proved', () => {
    const id = resuming({})
    id.announce('a')
    id.begin()
    id.prove()
    id.begin()
    id.prove()
    id.cut()
    expect(id.ids).toEqual({ proven: 'a', announced: undefined })
  })
})
