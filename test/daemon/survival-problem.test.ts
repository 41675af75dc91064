import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { survivalProblem } from '../../src/daemon/doctor.ts'

test('looking whether agents can outlive a server leaves nothing behind', () => {
  const data = mkdtempSync(join(tmpdir(), 'doctor-'))
  expect(survivalProblem({ data, durability: 'power' })).toBeUndefined()
  expect(readdirSync(data)).toEqual([])
  mkdirSync(join(data, 'spool'))
  expect(survivalProblem({ data, durability: 'power' })).toBeUndefined()
  expect(readdirSync(data, { recursive: true })).toEqual(['spool'])
})
