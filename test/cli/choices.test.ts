import { expect, test } from 'vitest'
import { APPROVALS, DIALECTS, LAUNCHES, SANDBOXES } from '../../src/cli/commands/choices.ts'
import { dialects } from '../../src/dialects/index.ts'
import { Approval, LaunchKind, Sandbox } from '../../src/model/index.ts'

test('options offer exactly the values of the model', () => {
  expect([...APPROVALS]).toEqual(Approval.options)
  expect([...SANDBOXES]).toEqual(Sandbox.options)
  expect([...LAUNCHES].sort()).toEqual([...LaunchKind.options].sort())
  expect([...DIALECTS]).toEqual([...dialects.keys()])
})
