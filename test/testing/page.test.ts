import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SCENARIOS } from '../../src/testing/index.ts'

const page = readFileSync('docs/testing.md', 'utf8')

/** The part of the page below a heading. */
const section = (title: string) => page.split(/^#+ /m).find((part) => part.startsWith(`${title}\n`)) ?? ''

it('the page on testing names every ready-made scenario, and no other', () => {
  const rows = section('Ready-made scenarios')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  expect([...named, 'inner'].sort()).toEqual(Object.keys(SCENARIOS).sort())
})
