import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** What `someOf` chooses in a process with this seed. */
function chosen(seed: string, isLong = false): unknown {
  const program = `import { someOf } from ${JSON.stringify(new URL('long.ts', import.meta.url).href)}
    const lists = [20, 30, 40].map((count) => [...Array(count).keys()])
    console.log(JSON.stringify(lists.map((list) => someOf(list, 2))))`
  const env = { ...process.env, MAINSTEM_TEST_SEED: seed, CI_LONG: isLong ? '1' : '' }
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { env }).toString(),
  )
}

test('a seed chooses the same members again, and another seed others', () => {
  expect(chosen('1')).toEqual(chosen('1'))
  expect(chosen('1')).not.toEqual(chosen('2'))
  expect(chosen('1', true)).toMatchObject([{ length: 20 }, { length: 30 }, { length: 40 }])
})
