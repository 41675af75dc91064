import { expect, test } from 'vitest'
import {
  APPROVALS,
  DIALECTS,
  LAUNCHES,
  ON_LIMIT,
  ON_LOST,
  SANDBOXES,
} from '../../src/cli/commands/choices.ts'
import { dialects } from '../../src/dialects/index.ts'
import { Approval, LaunchKind, OnLimit, Sandbox, SessionOptions } from '../../src/model/index.ts'

test('options offer exactly the values of the model', () => {
  expect([...APPROVALS]).toEqual(Approval.options)
  expect([...SANDBOXES]).toEqual(Sandbox.options)
  expect([...LAUNCHES].sort()).toEqual([...LaunchKind.options].sort())
  expect([...ON_LIMIT]).toEqual(OnLimit.options)
  expect([...ON_LOST]).toEqual(SessionOptions.shape.onLost.unwrap().options)
  expect([...DIALECTS]).toEqual([...dialects.keys()])
})
