import fc from 'fast-check'
import type { Fixture } from './fixtures.ts'

type Json = fc.JsonValue

const oddJson = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<Json>(null, '', 0, -1, [], {}, [null], 'constructor', '__proto__', { type: null }),
)

/** A recording in which some values, anywhere in some frames, are something else, or gone, or swapped around. */
export function mutatedLines(fixture: Fixture): fc.Arbitrary<{ fixture: Fixture; lines: string[] }> {
  const change = fc.record({ line: fc.nat(), path: fc.array(fc.nat(), { maxLength: 6 }), value: oddJson })
  const swap = fc.record({ from: fc.nat(), to: fc.nat() })
  return fc
    .record({ changes: fc.array(change, { maxLength: 6 }), swaps: fc.array(swap, { maxLength: 3 }) })
    .map((plan) => {
      const lines = [...fixture.lines]
      for (const { line, path, value } of plan.changes) {
        const at = line % Math.max(1, lines.length)
        lines[at] = mutate(lines[at] ?? '', path, value)
      }
      for (const { from, to } of plan.swaps) {
        const [moved] = lines.splice(from % Math.max(1, lines.length), 1)
        if (moved !== undefined) lines.splice(to % (lines.length + 1), 0, moved)
      }
      return { fixture, lines }
    })
}

function mutate(line: string, path: readonly number[], value: Json): string {
  const parsed = parse(line)
  return parsed === undefined ? line : `${JSON.stringify(replaceAt(parsed, path, value))}\n`
}

function parse(line: string): Json | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function replaceAt(json: Json, path: readonly number[], value: Json): Json {
  const [step, ...rest] = path
  if (step === undefined || typeof json !== 'object' || json === null) return value
  if (Array.isArray(json)) {
    if (json.length === 0) return value
    const index = step % json.length
    return json.map((item, at) => (at === index ? replaceAt(item, rest, value) : item))
  }
  const keys = Object.keys(json)
  const key = keys[step % Math.max(1, keys.length)]
  if (key === undefined) return value
  return Object.fromEntries(
    keys.map((name) => [
      name,
      name === key ? replaceAt(json[name] ?? null, rest, value) : (json[name] ?? null),
    ]),
  )
}

/** The fields that a next version might add, in the frame and in its nested objects. */
export function withUnknownFields(line: string): string {
  const parsed = parse(line)
  return parsed === undefined ? line : `${JSON.stringify(widen(parsed))}\n`
}

/** Payloads that are carried whole, such as a tool's input, must stay as they are. */
const VERBATIM = new Set([
  'input',
  'tool_input',
  'tool_use_result',
  'structured_output',
  'permission_suggestions',
  'updatedInput',
  'updatedPermissions',
  'rawInput',
  'rawOutput',
  'arguments',
  'tool_params',
  'parameters',
  'metadata',
  'state',
  'result',
  'changes',
  'request',
  'answers',
  'args',
  'toolResponse',
  'data',
])

function widen(json: Json): Json {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json
  const wide: { [key: string]: Json } = { xNewInTheNextVersion: { nested: ['value', 1] } }
  for (const [key, value] of Object.entries(json))
    wide[key] = VERBATIM.has(key) ? (value ?? null) : widen(value ?? null)
  return wide
}
