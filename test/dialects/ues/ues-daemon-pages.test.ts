import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { StreamEvent } from '../../../src/dialects/daemon/daemon-event.ts'
import { AgentEvent } from '../../../src/dialects/ues/ues-event.ts'
import { type Event, FACES, Outcome } from '../../../src/model/index.ts'
import { MAIN } from '../../built-program.ts'
import { blocksOf } from '../../docs/pages.ts'
import { SAMPLES } from '../../model/samples.ts'
import { hello, sayWith, started } from './ues-scene.ts'

const run = promisify(execFile)

const page = (dialect: string) => {
  const path = `docs/compatibility/dialects/${dialect}.md`
  return { path, text: readFileSync(path, 'utf8') }
}

const codeIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

/** The rows of the table below a heading, each cell as the code words in it. */
function table(dialect: string, heading: string): string[][][] {
  const sections = page(dialect).text.split(/^## /m)
  const section = sections.find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(' | ').map(codeIn))
}

/** The fields of an object as the pages write them. */
const fieldsOf = (object: z.ZodObject) =>
  Object.entries(object.shape)
    .filter(([name]) => name !== 'type')
    .map(([name, field]) => `${name}${z.object({ field }).safeParse({}).success ? '?' : ''}`)

/** `output` may be anything, and is always there. */
const always = (fields: readonly string[]) => fields.map((name) => (name === 'output?' ? 'output' : name))

test.each(['ues', 'daemon'])('the page on %s shows what the command prints', async (dialect) => {
  const [command, answer] = blocksOf(page(dialect))
  const [program, ...words] = command?.text.trim().split(' ') ?? []
  expect([program, words[0]]).toEqual(['mainstem', 'decode'])
  const { stdout } = await run(process.execPath, [MAIN, ...words])
  expect(stdout).toBe(answer?.text)
})

describe('the tables of the pages', () => {
  const listed = (dialect: string) =>
    table(dialect, 'The messages').map(([type = [], fields = []]) => [type[0], fields])

  test('list every message with every field', () => {
    const [nine] = AgentEvent.options
    expect(listed('ues')).toEqual(
      nine.options.map(({ shape }) => [shape.type.value, always(fieldsOf(shape.payload))]),
    )
    expect(listed('daemon')).toEqual(
      StreamEvent.options.map((message) => [message.shape.type.value, fieldsOf(message)]),
    )
  })

  test('say of every outcome what it is', () => {
    const told = (dialect: string, heading: string) =>
      table(dialect, heading).flatMap(([word = [], outcomes = []]) =>
        outcomes.map((outcome) => [outcome, word[0]]),
      )
    const words = (face: 'ues' | 'daemon') =>
      Outcome.options.map((outcome) => [outcome, FACES[outcome][face]])
    expect(told('ues', 'Runs').sort()).toEqual(words('ues').sort())
    expect(told('daemon', 'Exchanges').sort()).toEqual(words('daemon').sort())
  })

  test('name the namespaced type of every event that has one', () => {
    const samples: Record<string, Event> = {
      ...SAMPLES,
      'usage.reported': { ...SAMPLES['usage.reported'], scope: 'step' },
      'limit.reported': { type: 'limit.reported', kind: 'rate' },
    }
    const opened = [{ ...started, agent: 'codex' }, SAMPLES['turn.started'], hello]
    const said = Object.values(samples).flatMap((event) => {
      const type = String(sayWith({}, ...opened, event)[1]?.type)
      return type.includes(':') ? [[event.type, type]] : []
    })
    const listed = table('ues', 'Namespaced types').flatMap(([type = [], events = []]) =>
      events.filter((event) => event in SAMPLES).map((event) => [event, type[0]]),
    )
    expect(listed.sort()).toEqual(said.sort())
  })
})
