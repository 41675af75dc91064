import { expect, test } from 'vitest'
import { decodable } from '../../../src/agents/index.ts'
import { type Frame, type FrameStream, jsonFrame } from '../../../src/framing/frame.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'
import { someOf } from '../../long.ts'
import { fixtures } from '../fixtures.ts'

interface Line {
  dir: 'in' | 'out'
  /** Absent in the notes of a recorder, such as the end of a connection. */
  msg?: unknown
}

const transcripts = fixtures.filter(({ lines }) => lines[0]?.includes('"dir"'))
const START = { launch: 'live', cwd: '/', policy: DEFAULT_POLICY, options: {}, epoch: 1 } as const

test('there are recordings of both directions', () => {
  expect(transcripts.length).toBeGreaterThan(40)
})

test.each(transcripts)(
  '$name: the state of the codec, rebuilt at any frame, goes on with the same events',
  ({ agent, lines }) => {
    const recipe = decodable.find(({ id }) => id === agent)?.launches.live
    if (!recipe) throw new Error(`${agent} has no live launch`)
    const { codec, stream = 'stdout' } = recipe
    const frames = lines.filter((line) => line.includes('"msg"')).map((line) => parsed(line, stream))
    const step = (state: unknown, { dir, frame }: { dir: string; frame: Frame }) =>
      JSON.stringify(dir === 'out' ? codec.decode(state, frame) : (codec.sent?.(state, frame) ?? null))
    const whole = codec.initial(START)
    const places = new Set(someOf([...frames.keys()], 8))
    for (const [at, frame] of frames.entries()) {
      const expected = step(whole, frame)
      if (!places.has(at)) continue
      const rebuilt = codec.initial(START)
      for (const before of frames.slice(0, at)) step(rebuilt, before)
      const events = step(rebuilt, frame)
      if (events !== expected) expect({ at, events }).toEqual({ at, events: expected })
    }
  },
)

function parsed(line: string, stream: FrameStream) {
  const recorded: Line = JSON.parse(line)
  const { dir, msg = recorded } = recorded
  return { dir, frame: jsonFrame(stream, typeof msg === 'string' ? msg : JSON.stringify(msg)) }
}
