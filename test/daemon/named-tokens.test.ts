import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addToken, removeToken, tokenNames, tokenSource } from '../../src/daemon/named-tokens.ts'
import { tokenOf } from '../../src/gateway/http/auth.ts'

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'tokens-'))
})
afterEach(() => rmSync(data, { recursive: true }))

const reported: unknown[] = []
beforeEach(() => void reported.splice(0))

const file = () => join(data, 'tokens.json')

test('a new token has 256 bits, and only its digest is kept, where only we can read it', async () => {
  const token = await addToken(data, 'ci')
  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  expect(readFileSync(file(), 'utf8')).not.toContain(token)
  expect(readFileSync(file(), 'utf8')).toContain(tokenOf('ci', token).digest)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  expect(readdirSync(data)).toEqual(['tokens.json', 'tokens.lock'])
  expect(statSync(join(data, 'tokens.lock')).mode & 0o777).toBe(0o600)
})

test('names are listed, the first token among them', async () => {
  expect(await tokenNames(data)).toEqual(['local'])
  await addToken(data, 'ci')
  await addToken(data, 'anna')
  expect(await tokenNames(data)).toEqual(['local', 'ci', 'anna'])
  await removeToken(data, 'ci')
  expect(await tokenNames(data)).toEqual(['local', 'anna'])
})

test('of many that are made and removed at once none is lost', async () => {
  await addToken(data, 'gone')
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
  await Promise.all([removeToken(data, 'gone'), ...names.map((name) => addToken(data, name))])
  expect((await tokenNames(data)).sort()).toEqual(['local', ...names].sort())
})

test('of two with one name only one is made', async () => {
  const made = await Promise.allSettled([addToken(data, 'ci'), addToken(data, 'ci')])
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('a server applies each change with the next request', async () => {
  const tokens = tokenSource(data, 'first', (thrown) => reported.push(thrown))
  const first = { ...tokenOf('local', 'first'), roles: ['operator'] }
  expect(await tokens()).toEqual([first])
  const token = await addToken(data, 'ci')
  expect(await tokens()).toEqual([first, tokenOf('ci', token)])
  await removeToken(data, 'ci')
  expect(await tokens()).toEqual([first])
  const again = await addToken(data, 'ci')
  expect(await tokens()).toEqual([first, tokenOf('ci', again)])
})

describe('refused is', () => {
  test('a name that is taken', async () => {
    await addToken(data, 'ci')
    await expect(addToken(data, 'ci')).rejects.toMatchObject({ code: 'conflict' })
    await expect(addToken(data, 'local')).rejects.toMatchObject({ code: 'conflict' })
  })

  test.each(['', 'A', '-x', 'a b', 'a/b', 'a\n', 'ä', 'x'.repeat(65)])('the name %j', async (name) => {
    await expect(addToken(data, name)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('to remove what is not there, or the first', async () => {
    await expect(removeToken(data, 'ci')).rejects.toMatchObject({ code: 'not_found' })
    await expect(removeToken(data, 'local')).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('a file that others can read, or that is invalid', async () => {
    await addToken(data, 'ci')
    chmodSync(file(), 0o644)
    await expect(tokenNames(data)).rejects.toMatchObject({ code: 'forbidden' })
    chmodSync(file(), 0o600)
    for (const text of ['', '{}', '{"tokens":[{"name":"x"}]}']) {
      writeFileSync(file(), text)
      await expect(tokenNames(data)).rejects.toThrow(/is not a valid token list/)
    }
  })
})

test('a list that others could read is reported with its path and the fix, and callers get neither', async () => {
  const tokens = tokenSource(data, 'first', (thrown) => reported.push(thrown))
  await addToken(data, 'ci')
  chmodSync(file(), 0o644)
  for (let request = 0; request < 3; request++) {
    await expect(tokens()).rejects.toMatchObject({
      code: 'storage_failed',
      message: 'the tokens of this server cannot be read; see the server log',
    })
  }
  expect(reported).toMatchObject([
    { message: `${file()} is open to other users`, details: { advice: `Run: chmod 600 ${file()}` } },
  ])
  chmodSync(file(), 0o600)
  expect(await tokens()).toHaveLength(2)
})
