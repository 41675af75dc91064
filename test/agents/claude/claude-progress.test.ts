import { expect, test } from 'vitest'
import { Native } from '../native/claude.ts'
import { call, openTalk, returned } from './claude-talk.ts'

test('the status of a running call is its progress message', () => {
  const talk = openTalk()
  talk.hear(call('t1'))
  const status = { type: 'tool_progress', tool_use_id: 't1', tool_name: 'Bash', status: 'Running command...' }
  expect(talk.hear(status)).toEqual([
    { type: 'tool.progressed', toolId: 't1', message: 'Running command...' },
  ])
  expect(talk.hear({ ...status, status: '' })).toEqual([])
})

test('a heartbeat reports the duration of a call, and nothing after its end', () => {
  const beat = {
    type: 'tool_progress',
    tool_use_id: 't1-heartbeat-0',
    tool_name: 'Bash',
    parent_tool_use_id: 't1',
    elapsed_time_seconds: 30,
    heartbeat: true,
  }
  expect(Native.safeParse(beat).success).toBe(true)
  const talk = openTalk()
  talk.hear(call('t1'))
  expect(talk.hear(beat)).toEqual([{ type: 'tool.progressed', toolId: 't1', elapsedMs: 30_000 }])
  talk.hear(returned('t1', 'ok'))
  expect(talk.hear(beat)).toEqual([])
})
