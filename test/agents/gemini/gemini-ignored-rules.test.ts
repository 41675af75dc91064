import { expect, test } from 'vitest'
import { gemini } from '../../../src/agents/gemini/agent.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import type { LaunchKind } from '../../../src/model/index.ts'
import { startOf } from './gemini-talk.ts'

const LINE = 'Warning: Ignoring --admin-policy because system policies are already defined.'

test.each<LaunchKind>(['live', 'oneshot'])(
  'tool lists that Gemini CLI ignores are reported: %s',
  (launch) => {
    const { codec } = gemini.launches[launch] ?? {}
    if (!codec) throw new Error(`gemini has a ${launch} launch`)
    const state = codec.initial({ ...startOf({ tools: { denied: ['execute'] } }), launch })
    const { emitted } = codec.decode(state, jsonFrame('stderr', LINE))
    expect(emitted).toEqual([
      { type: 'output.written', stream: 'stderr', line: LINE },
      expect.objectContaining({ type: 'notice.raised', level: 'error', code: 'protocol_refused' }),
    ])
  },
)
