import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tokenIn } from '../../src/daemon/token.ts'

let base: string
let data: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'token-'))
  data = join(base, 'deep/data')
})
afterEach(() => rmSync(base, { recursive: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777

test('the first start creates a private token of 256 bits', async () => {
  const { path, token } = await tokenIn(data)
  expect(path).toBe(join(data, 'token'))
  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  expect(readFileSync(path, 'utf8')).toBe(`${token}\n`)
  expect(modeOf(path)).toBe(0o600)
  expect(modeOf(data)).toBe(0o700)
  expect(readdirSync(data)).toEqual(['token'])
})

test('a later start finds it, and another directory has another', async () => {
  const first = await tokenIn(data)
  expect(await tokenIn(data)).toEqual(first)
  expect((await tokenIn(join(base, 'other'))).token).not.toBe(first.token)
})

test('servers that start together agree', async () => {
  const tokens = await Promise.all(Array.from({ length: 10 }, () => tokenIn(data)))
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(1)
  expect(readdirSync(data)).toEqual(['token'])
})

describe('a token is refused', () => {
  const token = 'a'.repeat(43)
  const refused = (why: RegExp) => expect(tokenIn(data)).rejects.toThrow(why)

  beforeEach(() => {
    mkdirSync(data, { recursive: true, mode: 0o700 })
  })

  test('behind a symbolic link', async () => {
    writeFileSync(join(base, 'elsewhere'), token, { mode: 0o600 })
    symlinkSync(join(base, 'elsewhere'), join(data, 'token'))
    await refused(/is a symbolic link/)
  })

  test('when others can read it', async () => {
    writeFileSync(join(data, 'token'), token)
    chmodSync(join(data, 'token'), 0o644)
    await refused(/open to other users/)
  })

  test('when others can put another one in its place', async () => {
    chmodSync(data, 0o770)
    await refused(/open to other users/)
  })

  test('when the directory is a link', async () => {
    symlinkSync(data, join(base, 'link'))
    await expect(tokenIn(join(base, 'link'))).rejects.toThrow(/is not a directory/)
  })

  test.each(['', 'short', 'a'.repeat(42), `${'a'.repeat(42)} `])('when it is %j', async (weak) => {
    writeFileSync(join(data, 'token'), weak, { mode: 0o600 })
    await refused(/256 bits/)
  })

  test('when it is not a file', async () => {
    mkdirSync(join(data, 'token'), { mode: 0o700 })
    await refused(/is not a file/)
  })
})
