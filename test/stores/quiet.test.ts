import { expect, test } from 'vitest'
import { quietSqlite } from '../../src/stores/sqlite/quiet.ts'

test('exactly one warning is left out', () => {
  const said: unknown[][] = []
  const target: Pick<NodeJS.Process, 'emitWarning'> = {
    emitWarning: (...warning: unknown[]) => void said.push(warning),
  }
  const { emitWarning } = target
  const restore = quietSqlite(target)
  target.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
  target.emitWarning('Something else is an experimental feature', 'ExperimentalWarning')
  const error = new Error('a file descriptor was left open')
  target.emitWarning(error)
  expect(said).toEqual([['Something else is an experimental feature', 'ExperimentalWarning'], [error]])
  restore()
  expect(target.emitWarning).toBe(emitWarning)
})
