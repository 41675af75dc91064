import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Mask } from '../../src/mask/mask.ts'
import { maskedBlob } from '../../src/mask/masked-blobs.ts'
import { secretsIn } from '../../src/mask/secrets.ts'
import type { Event } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { house, init, result, said } from '../sessions/house.ts'
import { blobBytes } from '../stores/blob-bytes.ts'

const SECRET = 'sk-ssk-abcdef"0123'
const MARK = `[masked ${SECRET.length}]`

function maskOf(...secrets: string[]): Mask {
  return new Mask({ own: secrets })
}

function passed(mask: Mask, ...events: Event[]): Event[] {
  const logged: Event[] = []
  for (const event of events) mask.pass(event, (safe) => logged.push(safe))
  return logged
}

const delta = (text: string, messageId = 'm'): Event => ({ type: 'text.delta', messageId, text })
const completed = (text: string, messageId = 'm'): Event => ({ type: 'text.completed', messageId, text })
const textOf = (events: readonly Event[]) =>
  events.map((event) => (event.type === 'text.delta' ? event.text : '')).join('')

/** The text cut at these places. */
function cut(text: string, places: readonly number[]): string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...sorted].map((from, index) => text.slice(from, sorted[index] ?? text.length))
}

describe('a secret', () => {
  test('is marked with its length, wherever it is in an event', () => {
    const mask = maskOf(SECRET)
    const event: Event = {
      type: 'tool.started',
      toolId: 't',
      name: 'Bash',
      kind: 'execute',
      input: {
        command: ['curl', `-H ${SECRET}`],
        [SECRET]: { deep: `${SECRET}${SECRET}` },
        n: 1,
        none: null,
      },
    }
    const [logged] = passed(mask, event)
    expect(logged).toEqual({
      ...event,
      input: { command: ['curl', `-H ${MARK}`], [MARK]: { deep: MARK + MARK }, n: 1, none: null },
    })
  })

  test('is found as JSON writes it', () => {
    expect(maskOf(SECRET).text(JSON.stringify({ key: SECRET }))).toBe(`{"key":"${MARK}"}`)
  })

  test('that is part of another leaves nothing of the longer one', () => {
    expect(maskOf('abcdefgh', 'abcdefgh-and-more').text('abcdefgh-and-more abcdefgh')).toBe(
      '[masked 17] [masked 8]',
    )
  })

  test('that is short is a word like others', () => {
    expect(new Mask({ own: ['short', ''] }).isEmpty).toBe(true)
  })

  test('is never in the increments of a message, however they are cut, and nothing else is lost', () => {
    const secrets = ['sk-ssk-abcdef', 'aabaabaac']
    const part = fc.oneof(fc.constantFrom(...secrets, 's', 'sk-', 'aab', 'aabaabaab', 'x '), fc.string())
    const parts = fc.array(part, { maxLength: 8 })
    fc.assert(
      fc.property(parts, fc.array(fc.nat(200), { maxLength: 20 }), (words, places) => {
        const mask = maskOf(...secrets)
        const whole = words.join('')
        const logged = passed(mask, ...cut(whole, places).map((text) => delta(text)), completed(whole))
        const last = logged.at(-1)
        expect(last).toEqual(completed(mask.text(whole)))
        expect(textOf(logged)).toBe(mask.text(whole))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is found in each of two messages that come mixed', () => {
    const logged = passed(
      maskOf(SECRET),
      delta('a sk-ssk', 'm'),
      delta('b sk-', 'n'),
      delta('-abcdef"0123 a', 'm'),
      delta('ssk-abcdef"0123 b', 'n'),
    )
    expect(JSON.stringify(logged)).not.toContain('abcdef')
    expect(textOf(logged)).toBe(`a b ${MARK} a${MARK} b`)
  })

  test('that only seemed to begin is shown when its message or its turn is over', () => {
    const end: Event = { type: 'turn.completed', turn: 1, outcome: 'completed', durationMs: 0, denials: 0 }
    expect(passed(maskOf(SECRET), delta('to be sk'), completed('to be sk'))).toEqual([
      delta('to be '),
      delta('sk'),
      completed('to be sk'),
    ])
    expect(passed(maskOf(SECRET), delta('sk'), end)).toEqual([delta('sk'), end])
  })

  test('is found in the output of a tool and in the draft of a call', () => {
    const logged = passed(
      maskOf(SECRET),
      { type: 'tool.progressed', toolId: 't', output: 'key: sk-ssk-abc' },
      { type: 'tool.progressed', toolId: 't', output: 'def"0123\n' },
      { type: 'tool.input.delta', toolId: 'u', name: 'Bash', delta: '{"k":"sk-ssk-abcdef\\' },
      { type: 'tool.input.delta', toolId: 'u', name: 'Bash', delta: '"0123"}' },
    )
    expect(JSON.stringify(logged)).not.toMatch(/abc|0123/)
  })

  test('is marked in a blob, however its bytes come', async () => {
    const text = `é${SECRET}x${SECRET}sk-ssk-abcdef"012`
    const bytes = new TextEncoder().encode(text)
    const places = fc.array(fc.nat(bytes.length), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(places, async (cuts) => {
        const store = memoryStore()
        const writer = maskedBlob(store.blobs.open(), maskOf(SECRET))
        const sorted = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        for (const [index, from] of sorted.entries()) writer.write(bytes.slice(from, sorted[index + 1]))
        const kept = await blobBytes(store.readBlob(await writer.close()))
        expect(new TextDecoder().decode(kept)).toBe(`é${MARK}x${MARK}sk-ssk-abcdef"012`)
      }),
    )
  })
})

test('values are secrets by the names they have', () => {
  const values = {
    OPENAI_API_KEY: 'one',
    GITHUB_TOKEN: 'two',
    Authorization: 'Bearer three',
    PATH: '/bin',
    GIT_AUTHOR_NAME: 'somebody',
    NOTHING_KEY: undefined,
  }
  expect(new Set(secretsIn(values))).toEqual(new Set(['one', 'two', 'Bearer three', 'three']))
})

test('neither log nor journal nor record hold the keys of a session, and the agent gets them', async () => {
  const key = 'sk-0123456789'
  const { open, driver, store, log } = house()
  const options = { env: { ANTHROPIC_API_KEY: key } }
  const session = await open({}, { options })
  await session.prompt(`use ${key}`)
  const run = await driver.run()
  expect(run.input).toContain(key)
  expect(run.context.env).toEqual(options.env)
  run.say(init, said(`I see ${key}`), result(`it is ${key}`))
  expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'it is [masked 13]' })
  const kept = JSON.stringify([await log(session), await store.readJournal(session.id, 0, 100)])
  expect(kept).not.toContain(key)
  expect(kept).toContain('I see [masked 13]')
  expect(kept).toContain('use [masked 13]')
})

test('masks a key that only the start of the process revealed', async () => {
  const key = 'provider-key-0123'
  const { open, driver, store, log } = house()
  const session = await open()
  await session.prompt('go')
  const run = await driver.run()
  run.context.protect?.({ environment: {}, named: [key] })
  run.say(init, said(`I see ${key}`), result(`it is ${key}`))
  expect(await session.settled(1)).toMatchObject({ result: 'it is [masked 17]' })
  const kept = JSON.stringify([await log(session), await store.readJournal(session.id, 0, 100)])
  expect(kept).not.toContain(key)
})

test('marks a secret that was added later, also in blobs that are opened then', async () => {
  const store = memoryStore()
  const mask = new Mask({})
  mask.add({ own: [SECRET] })
  const writer = maskedBlob(store.blobs.open(), mask)
  writer.write(new TextEncoder().encode(SECRET))
  expect(new TextDecoder().decode(await blobBytes(store.readBlob(await writer.close())))).toBe(MARK)
  expect(mask.text(SECRET)).toBe(MARK)
})
