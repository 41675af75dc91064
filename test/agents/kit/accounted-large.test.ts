import { expect, test } from 'vitest'
import { accounted } from '../../../src/agents/kit/accounted.ts'
import { emit, nothing } from '../../../src/agents/kit/decoded.ts'
import { isFields } from '../../../src/agents/kit/fields.ts'
import { type Frame, jsonFrame } from '../../../src/framing/frame.ts'
import { blobReference } from '../../../src/model/blob.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'

/** Reports the input of a call at its start, and nothing at its end. */
const codec = accounted(
  {
    initial: () => undefined,
    decode(_, { value }) {
      const native = isFields(value) ? value : {}
      return native.type === 'start'
        ? emit({ type: 'tool.started', toolId: 't', name: 'write', kind: 'edit', input: native.text })
        : nothing
    },
    encode: () => nothing,
    end: () => nothing,
  },
  {},
)

function large(type: string, id: string, digest: string): Frame {
  const blob = { id, bytes: 20_000_000 }
  const text = `one two ${blobReference(blob)}`
  return { ...jsonFrame('stdout', JSON.stringify({ type, text })), large: [{ blob, text, digest }] }
}

const start = { launch: 'live', cwd: '/', policy: DEFAULT_POLICY, options: {}, epoch: 1 } as const

test('a large value that an event has is known again in another blob, by its digest', () => {
  const state = codec.initial(start)
  expect(codec.decode(state, large('start', 'b1', 'sum')).verdict).toBe('mapped')
  expect(codec.decode(state, large('end', 'b2', 'sum')).verdict).toBe('mapped')
  expect(codec.decode(state, large('end', 'b3', 'other')).verdict).toBe('unmapped')
})

test('a large value that no event has is not known', () => {
  const state = codec.initial(start)
  for (const id of ['b1', 'b2']) expect(codec.decode(state, large('end', id, 'sum')).verdict).toBe('unmapped')
})
