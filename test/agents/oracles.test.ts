import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Usage } from '../../src/model/index.ts'
import type { NativeMessage, Oracle, OracleTurn } from '../oracles/oracle.ts'
import { decodeFixture, type Fixture, fixtures } from './fixtures.ts'
import { summarise, type TurnSummary } from './summary.ts'

const FOLDER = join(import.meta.dirname, '../oracles')

/** An oracle is found by its place: it has the name of the program that it judges. */
const oracles = new Map<string, Oracle>()
for (const file of readdirSync(FOLDER)) {
  if (file !== 'oracle.ts') oracles.set(file.replace(/\.ts$/, ''), (await import(join(FOLDER, file))).oracle)
}

/** One protocol has one oracle, and so have two versions of one program. */
const SHARED: readonly (readonly [RegExp, string])[] = [
  [/^acp-/, 'acp'],
  [/^claude-2\.1\.197$/, 'claude'],
]

function oracleOf({ program }: Fixture): Oracle | undefined {
  const shared = SHARED.find(([programs]) => programs.test(program))?.[1]
  return oracles.get(shared ?? program)
}

const judged = fixtures.filter((fixture) => oracleOf(fixture) !== undefined)

test('every recorded program has an oracle', () => {
  const recorded = fixtures.filter(({ agent }) => agent !== 'board')
  expect(judged.length).toBe(recorded.length)
})

test.each(judged)('$name: codec and oracle agree', (fixture) => {
  const { turns } = oracleOf(fixture)?.({ ...fixture, messages: messagesOf(fixture) }) ?? { turns: [] }
  const ours = summarise(decodeFixture(fixture).entries)
  expect(ours.map((turn, index) => seenBy(turns[index] ?? {}, turn))).toEqual(turns)
})

/** Only what the oracle could tell. */
function seenBy(oracle: OracleTurn, { outcome, text, tools, usage = {} }: TurnSummary): OracleTurn {
  return {
    ...(oracle.outcome !== undefined && { outcome }),
    ...(oracle.text !== undefined && { text }),
    ...(oracle.tools !== undefined && { tools: tools.map(({ name, status }) => ({ name, status })) }),
    ...(oracle.usage !== undefined && { usage: known(usage, Object.keys(oracle.usage)) }),
  }
}

function known({ partial: _, ...usage }: Usage, keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number | undefined> = usage
  return Object.fromEntries(keys.flatMap((key) => (counts[key] === undefined ? [] : [[key, counts[key]]])))
}

function messagesOf({ lines }: Fixture): NativeMessage[] {
  return lines.flatMap((line): NativeMessage[] => {
    if (line.trim() === '') return []
    const value = parse(line)
    if (typeof value !== 'object' || value === null || !('dir' in value) || !('msg' in value)) {
      return [{ direction: 'out', value }]
    }
    return [{ direction: value.dir === 'in' ? 'in' : 'out', value: value.msg }]
  })
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line.trimEnd()
  }
}
