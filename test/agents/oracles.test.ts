import { expect, test } from 'vitest'
import { oracle as acp } from '../oracles/acp.ts'
import { oracle as claude } from '../oracles/claude.ts'
import { oracle as codex } from '../oracles/codex.ts'
import { oracle as gemini } from '../oracles/gemini.ts'
import { oracle as opencode } from '../oracles/opencode.ts'
import { oracle as opencodeServe } from '../oracles/opencode-serve.ts'
import type { NativeMessage, Oracle, OracleTurn } from '../oracles/oracle.ts'
import { decodeFixture, type Fixture, fixtures } from './fixtures.ts'
import { summarise, type TurnSummary } from './summary.ts'

const ORACLES: Readonly<Record<string, Oracle>> = {
  claude,
  'claude-2.1.197': claude,
  codex,
  gemini,
  opencode,
  'opencode-serve': opencodeServe,
}
const oracleOf = ({ program }: Fixture) => (program.startsWith('acp-') ? acp : ORACLES[program])
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

function known(usage: Record<string, number | undefined>, keys: readonly string[]): Record<string, number> {
  return Object.fromEntries(keys.flatMap((key) => (usage[key] === undefined ? [] : [[key, usage[key]]])))
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
