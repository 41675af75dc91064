import { expect, test } from 'vitest'
import { applyEntry, newTimeline } from '../../src/client/index.ts'
import type { Entry, SessionRecord } from '../../src/model/index.ts'
import { presentRecord } from '../src/session/present-record.ts'

let seq = 0
const entry = (event: Entry['event']): Entry => ({ seq: ++seq, session: 's', turn: 1, at: seq, event })

function fold(entries: readonly Entry[]) {
  const timeline = newTimeline()
  for (const one of entries) applyEntry(timeline, one)
  return timeline
}

test('a record that is behind the log shows the end of the turn', () => {
  const begun = entry({ type: 'turn.started', turn: 1, prompt: 'go', origin: 'prompt' })
  const completed = entry({
    type: 'turn.completed',
    turn: 1,
    outcome: 'interrupted',
    durationMs: 5,
    denials: 0,
  })
  const record: SessionRecord = {
    id: 's',
    principal: 'local',
    agent: 'demo',
    launch: 'live',
    cwd: '/',
    policy: { approval: 'ask', sandbox: 'none' },
    options: {},
    attended: true,
    status: 'busy',
    createdAt: 0,
    updatedAt: 0,
    head: begun.seq,
    turns: 1,
    queue: [],
    requests: [],
    usage: {},
    frames: 0,
    epoch: 0,
  }
  expect(presentRecord(record, fold([begun, completed]))).toMatchObject({
    status: 'idle',
    lastOutcome: 'interrupted',
    requests: [],
  })
  const current = { ...record, head: completed.seq }
  expect(presentRecord(current, fold([begun, completed]))).toBe(current)
  const next = entry({ type: 'turn.started', turn: 2, prompt: 'more', origin: 'prompt' })
  expect(presentRecord(record, fold([begun, completed, next]))).toBe(record)
})
