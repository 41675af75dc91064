import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeFixture, fixtures } from './fixtures.ts'
import { summarise } from './summary.ts'

const expectation = (folder: string) => join(folder, 'expected.json')
const expected = fixtures.filter(({ folder }) => existsSync(expectation(folder)))

test('enough recordings have an expectation that a person wrote down', () => {
  expect(expected.length).toBeGreaterThanOrEqual(40)
})

test.each(expected)('$name gives the result that a person read in it', (fixture) => {
  const { turns } = JSON.parse(readFileSync(expectation(fixture.folder), 'utf8'))
  expect(summarise(decodeFixture(fixture).entries)).toEqual(turns)
})
