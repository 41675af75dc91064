import { expect, test } from 'vitest'
import {
  APPROVALS,
  AUDIT_ACTIONS,
  DIALECTS,
  LAUNCHES,
  ON_LOST,
  onLimit,
  SANDBOXES,
} from '../../src/cli/commands/choices.ts'
import { dialects } from '../../src/dialects/index.ts'
import { AuditAction } from '../../src/model/access.ts'
import { Approval, LaunchKind, OnLimit, Sandbox, SessionOptions } from '../../src/model/index.ts'

test('options offer exactly the values of the model', () => {
  expect([...APPROVALS]).toEqual(Approval.options)
  expect([...SANDBOXES]).toEqual(Sandbox.options)
  expect([...LAUNCHES].sort()).toEqual([...LaunchKind.options].sort())
  expect(['fail', 'wait', 'codex'].map(onLimit)).toEqual(['fail', 'wait', { continueAs: 'codex' }])
  for (const value of ['fail', 'wait', 'codex']) expect(OnLimit.parse(onLimit(value))).toEqual(onLimit(value))
  expect([...ON_LOST]).toEqual(SessionOptions.shape.onLost.unwrap().options)
  expect([...AUDIT_ACTIONS]).toEqual(AuditAction.options)
  expect([...DIALECTS]).toEqual([...dialects.keys()])
})
