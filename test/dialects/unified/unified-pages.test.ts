import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { SessionEvent } from '../../../src/dialects/board/board-event.ts'
import { AgentEvent } from '../../../src/dialects/unified/unified-event.ts'
import { FACES, Outcome } from '../../../src/model/index.ts'
import { MAIN } from '../../built-program.ts'
import { blocksOf } from '../../docs/pages.ts'

const run = promisify(execFile)

const page = (dialect: string) => {
  const path = `docs/compatibility/dialects/${dialect}.md`
  return { path, text: readFileSync(path, 'utf8') }
}

/** The rows of the table below a heading, each cell as the code words in it. */
function table(dialect: string, heading: string): string[][][] {
  const section =
    page(dialect)
      .text.split(/^## /m)
      .find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const rows = [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(' | '))
  return rows.map((cells) =>
    cells.map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)),
  )
}

const ENVELOPE = ['id', 'sessionId', 'timestamp', 'type']

/** The fields of a message as the pages write them. */
const fieldsOf = ({ shape }: z.ZodObject) =>
  Object.entries(shape)
    .filter(([name]) => !ENVELOPE.includes(name))
    .map(([name, field]) => `${name}${field.safeParse(undefined).success ? '?' : ''}`)

test.each(['unified', 'board'])('the page on %s shows what the command prints', async (dialect) => {
  const [command, answer] = blocksOf(page(dialect))
  const [program, ...words] = command?.text.trim().split(' ') ?? []
  expect([program, words[0]]).toEqual(['mainstem', 'decode'])
  const { stdout } = await run(process.execPath, [MAIN, ...words])
  expect(stdout).toBe(answer?.text)
})

describe('the tables of the pages', () => {
  test('list every message with every field', () => {
    const listed = (dialect: string) =>
      table(dialect, 'The messages').map(([type = [], fields = []]) => [type[0], fields])
    expect(listed('unified')).toEqual(
      AgentEvent.options.map((message) => [message.shape.type.value, fieldsOf(message)]),
    )
    expect(listed('board')).toEqual(
      SessionEvent.options.map(({ shape }) => [shape.type.value, fieldsOf(shape.payload)]),
    )
  })

  test('say of every outcome what it is', () => {
    const reasons = table('unified', 'Sessions and turns').flatMap(([outcomes = [], , reason = []]) =>
      outcomes.map((outcome) => [outcome, reason[0]]),
    )
    const states = table('board', 'The state').flatMap(([state = [], outcomes = []]) =>
      outcomes.map((outcome) => [outcome, state[0]]),
    )
    const words = (face: 'unified' | 'board') =>
      Outcome.options.map((outcome) => [outcome, FACES[outcome][face]])
    expect(reasons.sort()).toEqual(words('unified').sort())
    expect(states.sort()).toEqual(words('board').sort())
  })
})
