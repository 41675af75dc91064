import { describe, expectTypeOf, test } from 'vitest'
import type * as ues from '../../src/ues/index.ts'
import type * as printed from './printed.ts'

type PayloadOf<Type extends ues.AgentEventType> = Extract<ues.AgentEvent, { type: Type }>['payload']

describe('the interface is that of its document', () => {
  test('adapters and their options, exactly, but for additions that may be absent', () => {
    expectTypeOf<ues.AgentAdapter>().toExtend<printed.AgentAdapter>()
    expectTypeOf<printed.AgentAdapter>().toExtend<ues.AgentAdapter>()
    type Printed = Pick<ues.AgentOptions, keyof printed.AgentOptions>
    expectTypeOf<Printed>().toEqualTypeOf<printed.AgentOptions>()
    expectTypeOf<printed.AgentOptions>().toExtend<ues.AgentOptions>()
    expectTypeOf<ues.CanUseTool>().toEqualTypeOf<printed.CanUseTool>()
    expectTypeOf<ues.AgentId>().toExtend<printed.AgentId>()
    expectTypeOf<printed.AgentId>().toExtend<ues.AgentId>()
    expectTypeOf<ues.PermissionTier>().toEqualTypeOf<printed.PermissionTier>()
    expectTypeOf<ues.PermissionMode>().toEqualTypeOf<printed.PermissionMode>()
  })

  test('the types of events, exactly, and what all have in common', () => {
    expectTypeOf<ues.AgentEventType>().toEqualTypeOf<printed.AgentEventType>()
    expectTypeOf<ues.AgentEvent>().toExtend<printed.BaseEvent>()
    expectTypeOf<ues.BaseEvent>().toExtend<printed.BaseEvent>()
    expectTypeOf<printed.BaseEvent>().toExtend<ues.BaseEvent>()
    expectTypeOf<ues.AgentEvent>().toExtend<ues.BaseEvent>()
    expectTypeOf<keyof ues.BaseEvent>().toEqualTypeOf<keyof printed.BaseEvent>()
  })

  test('payloads, exactly, but for a mark of ours beside the usage', () => {
    expectTypeOf<ues.InitPayload>().toEqualTypeOf<printed.InitPayload>()
    expectTypeOf<ues.ToolUsePayload>().toEqualTypeOf<printed.ToolUsePayload>()
    expectTypeOf<ues.ToolResultPayload>().toEqualTypeOf<printed.ToolResultPayload>()
    expectTypeOf<ues.DonePayload>().toExtend<printed.DonePayload>()
    expectTypeOf<printed.DonePayload>().toExtend<ues.DonePayload>()
  })

  test('the type of an event determines its payload', () => {
    expectTypeOf<PayloadOf<'init'>>().toEqualTypeOf<ues.InitPayload>()
    expectTypeOf<PayloadOf<'tool_use'>>().toEqualTypeOf<ues.ToolUsePayload>()
    expectTypeOf<PayloadOf<'tool_result'>>().toEqualTypeOf<ues.ToolResultPayload>()
    expectTypeOf<PayloadOf<'permission_request'>>().toEqualTypeOf<ues.PermissionRequestPayload>()
    expectTypeOf<PayloadOf<'done'>>().toEqualTypeOf<ues.DonePayload>()
  })

  test('runs side by side', () => {
    expectTypeOf<typeof ues.runParallel>().toExtend<printed.RunParallel>()
  })
})
