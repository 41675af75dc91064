import { expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { chargeOf, recordEvent } from '../../../src/sessions/machine/record.ts'
import type { SessionState } from '../../../src/stores/store.ts'

const ofChild: Event = {
  type: 'usage.reported',
  scope: 'subagent',
  subagentId: 'a',
  input: 10,
  output: 5,
  total: 15,
  source: 'agent',
}
const ends = (turn: number, total: number): Event => ({
  type: 'turn.completed',
  turn,
  outcome: 'completed',
  usage: { total },
  durationMs: 1,
  denials: 0,
})

/** ProjectionCache events into a session, and adds up what its principal is charged. */
function fold(events: readonly Event[]) {
  const state: SessionState = {
    id: 's',
    principal: 'local',
    agent: 'codex',
    launch: 'live',
    cwd: '/',
    policy: { approval: 'ask', sandbox: 'none' },
    options: {},
    attended: false,
    status: 'idle',
    createdAt: 0,
    turns: 0,
    queue: [],
    requests: [],
    usage: {},
    frames: 0,
    epoch: 0,
  }
  let charged = 0
  for (const event of events) {
    if (recordEvent(state, event, 0)) charged += chargeOf(state, event, 0)?.usage.total ?? 0
  }
  return { session: state.usage.total, charged }
}

test('the usage of a sub-agent inside a turn is in the total of the turn, and counted once', () => {
  const turn: Event = { type: 'turn.started', turn: 1, origin: 'prompt' }
  expect(fold([turn, ofChild, ends(1, 115)])).toEqual({ session: 115, charged: 115 })
})

test('the usage of a background sub-agent after its turn is added to the session and the account once', () => {
  const turn: Event = { type: 'turn.started', turn: 1, origin: 'prompt' }
  expect(fold([turn, ends(1, 100), ofChild, ofChild])).toEqual({ session: 130, charged: 130 })
})
