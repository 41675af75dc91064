import { describe, expect, test } from 'vitest'
import { byIdOrSession, byReference, referenceOf } from '../../src/cli/turn/request-ref.ts'
import type { OpenRequest } from '../../src/client/index.ts'

const asked = (requestId: string, digest: string, session = 'aaaaaaaa-1111-4111-8111-111111111111') =>
  ({
    ...{ session, agent: 'claude', cwd: '/', seq: 1, at: 0 },
    request: {
      ...{ type: 'request.opened', requestId, kind: 'permission', blocking: true, options: [] },
      inputDigest: digest.repeat(16),
    },
  }) satisfies OpenRequest

const first = asked('e1.1', '1234')
const other = asked('e1.12', '5678')
const again = asked('e1.0~2', '9abc')
const elsewhere = asked('e1.1', '1234', 'bbbbbbbb-1111-4111-8111-111111111111')
const open = [first, other, again, elsewhere]
const noSession = () => Promise.reject(new Error('there is no such session'))

describe('the reference of a request', () => {
  test('names the session, the request and what was shown of it', () => {
    expect(referenceOf(first)).toBe('aaaaaaaa/e1.1@1234123412341234')
    for (const one of open) expect(byReference(referenceOf(one), open)).toBe(one)
  })

  test.each(['a b', "it's", 'a@b', '../x', '$(rm)', '\u202e\u001b[2J', '\ud800', 'Ä/é'])(
    'is one plain word for the id %j',
    (id) => {
      const one = asked(id, '1234')
      expect(referenceOf(one)).toMatch(/^[\w/@%.~-]+$/)
      expect(byReference(referenceOf(one), [first, one])).toBe(one)
    },
  )

  test('is refused when the agent asks something else under this id', () => {
    const before = referenceOf(first)
    const now = [asked('e1.1', 'ffff'), other, again, elsewhere]
    expect(() => byReference(before, now)).toThrow(expect.objectContaining({ code: 'conflict' }))
    expect(() => byReference(before, [other])).toThrow(expect.objectContaining({ code: 'request_not_found' }))
  })

  test('is refused when it is not whole', () => {
    expect(byReference('aaaaaaaa/e1.1', open)).toBeUndefined()
    expect(() => byReference('aaaaaaaa/e1.1@1234', open)).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    )
  })

  test('is refused when two sessions share it', () => {
    const twin = { ...first, session: 'aaaaaaaa-2222-4222-8222-222222222222' }
    expect(() => byReference(referenceOf(first), [first, twin])).toThrow('names several requests')
  })
})

describe('another name of a request', () => {
  test('is its whole id, never the start of one', async () => {
    expect(await byIdOrSession('e1.0~2', open, noSession)).toBe(again)
    for (const start of ['e1.0', 'e1', '', 'e1.12 '])
      await expect(byIdOrSession(start, open, noSession)).rejects.toMatchObject({ code: 'request_not_found' })
  })

  test('is refused when several requests have it', async () => {
    await expect(byIdOrSession('e1.1', open, noSession)).rejects.toThrow('"e1.1" names several requests')
    const session = async () => ({ id: first.session })
    await expect(byIdOrSession('last', open, session)).rejects.toThrow('"last" names several requests')
    expect(await byIdOrSession('last', [first, elsewhere], session)).toBe(first)
  })
})
