import { expect, test } from 'vitest'
import { AgentContext } from '../../../src/sessions/machine/agent-context.ts'

const NEW = { ids: { proven: undefined, announced: undefined }, prompted: false }
const lost = (message: string) => [
  {
    type: 'notice.raised',
    level: 'warning',
    code: 'context_lost',
    message: expect.stringContaining(message),
  },
]

test('an update without a session id does not report a lost prompt; the next id does, once', () => {
  const context = new AgentContext(NEW, true)
  context.withdraw(1)
  expect(context.announce(undefined)).toEqual([])
  expect(context.announce('native-1')).toEqual(lost('Turn 1 was stopped before its prompt was sent'))
  expect(context.announce('native-1')).toEqual([])
  expect(context.prompt()).toEqual([])
})

test('another session than the one to resume loses everything, which replaces the doubt about one prompt', () => {
  const context = new AgentContext(
    { ids: { proven: 'native-1', announced: undefined }, prompted: true },
    true,
  )
  expect(context.launch()).toEqual({ resume: 'native-1', fork: false, lost: [] })
  context.withdraw(1)
  expect(context.announce('native-2')).toEqual(lost('was to resume session native-1 and opened native-2'))
  expect(context.prompt()).toEqual([])
})

test('a new conversation after earlier prompts is a loss, and only for an agent with a memory', () => {
  const before = { ...NEW, prompted: true }
  expect(new AgentContext(before, true).launch().lost).toEqual(lost('does not know the earlier turns'))
  expect(new AgentContext(before, false).launch().lost).toEqual([])
  expect(new AgentContext(NEW, true).launch().lost).toEqual([])
})

test('a process that never started leaves the context as it was', () => {
  const context = new AgentContext(NEW, true)
  context.launch()
  context.begin()
  context.prompt()
  context.cut(1, 'exit', false)
  expect(context.launch().lost).toEqual([])
  context.begin()
  context.prompt()
  context.cut(2, 'exit', true)
  expect(context.launch().lost).toEqual(lost('does not know the earlier turns'))
})

test('the state from which a later owner rebuilds names the conversation that is to be copied, if there is one', () => {
  const before = { ids: { proven: 'native-1', announced: undefined }, prompted: true }
  expect(new AgentContext({ ...before, forkOf: 'native-1' }, true).earlier).toStrictEqual({
    ...before,
    forkOf: 'native-1',
  })
  expect(new AgentContext(before, true).earlier).toStrictEqual(before)
})
