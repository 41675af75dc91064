import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claude } from '../../src/agents/claude/agent.ts'
import { driver } from '../../src/drivers/index.ts'
import { systemTimers } from '../../src/drivers/timers.ts'
import { BlobRef, Entry, type Event } from '../../src/model/index.ts'
import { begin, call, fetchFrom } from './api.ts'
import { create, exchange, startRpc } from './rpc/rpc.ts'
import type { TestGateway } from './start.ts'
import { parseEvents } from './streams/sse.ts'

const FAKE = fileURLToPath(new URL('../fake-agents/large-claude.mjs', import.meta.url))
const DOCUMENT = 'JVBERi0x'.repeat(75_000)

let server: TestGateway
const answersFile = () => join(server.root, 'answers')
beforeEach(async () => {
  const settings: Record<string, { command: [string, ...string[]] }> = {}
  const timers = systemTimers
  // A lower limit than the default of 16 MiB, with messages that are smaller in proportion.
  const limited = driver({ timers, maxLineBytes: 1024 * 1024 })
  server = await startRpc({ more: [claude], settings, timers, driver: limited })
  settings.claude = { command: [process.execPath, FAKE, answersFile()] }
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const read = async (session: string, blobs: unknown) =>
  Promise.all(
    BlobRef.array()
      .parse(blobs)
      .map(async ({ id }) => (await fetchFrom(server, `GET /v1/blobs/${session}/${id}`)).text()),
  )

const entriesOf = async (id: string) =>
  Entry.array().parse((await call(server, `GET /v1/sessions/${id}/events`)).body.entries)

async function waitFor<T extends Event['type']>(id: string, type: T) {
  const find = async () => (await entriesOf(id)).find(({ event }) => event.type === type)
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  const { event, blobs } = (await find()) ?? {}
  return { event: event as Extract<Event, { type: T }>, blobs }
}

describe('a tool result over the limit', () => {
  test('is a success of execute, with references to its texts', async () => {
    const response = await server.execute({ driver: 'claude', task: 'read', mode: 'oneshot' })
    const events = parseEvents(await response.text()).map(({ data }) => data)
    const result = events.find(({ kind }) => kind === 'tool_result')
    expect(result).toMatchObject({ tool_call_id: 't1', is_error: false })
    expect(result?.output).toMatch(/^PDF file read: \/a\.pdf JVBER/)
    const session = response.headers.get('mainstem-session') ?? ''
    expect(await read(session, result?.blobs)).toEqual([`PDF file read: /a.pdf ${DOCUMENT}`, DOCUMENT])
    expect(events).toContainEqual(expect.objectContaining({ kind: 'tool_call', status: 'completed' }))
    expect(events.at(-1)).toMatchObject({ kind: 'session_end', exit_code: 0 })
  })

  test('is referred to by daemon, and its exchange ends', async () => {
    const id = await create(server, { cli_type: 'claude' })
    const told = await exchange(server, id, 'read')
    const stored = told.find((one) => typeof one === 'object' && one !== null && 'blobs' in one)
    expect(stored).toMatchObject({ type: 'tool_use', tool: 'Read', message: expect.stringContaining('blob') })
    expect(told.at(-2)).toMatchObject({ type: 'result', session_id: 'native' })
    expect(JSON.stringify(told)).not.toContain('"error"')
  })
})

describe.each(['oneshot', 'live'])('a result over the limit (%s)', (launch) => {
  test('completes its turn', async () => {
    const id = await begin(server, { agent: 'claude', launch, prompt: 'read, then a large result' })
    const { event, blobs } = await waitFor(id, 'turn.completed')
    expect(event).toMatchObject({ outcome: 'completed' })
    expect(await read(id, blobs)).toEqual([DOCUMENT + DOCUMENT])
    const { body } = await call(server, `GET /v1/sessions/${id}/coverage`)
    expect(body).toMatchObject({ unmapped: 0, malformed: 0, oversized: 0 })
  })
})

test('a permission request over the limit is asked, and allowed without its input', async () => {
  const id = await begin(server, { agent: 'claude', launch: 'live', prompt: 'ask' })
  const { event, blobs } = await waitFor(id, 'request.opened')
  expect(event).toMatchObject({ tool: 'Write', kind: 'permission' })
  expect(await read(id, blobs)).toEqual([DOCUMENT + DOCUMENT])
  const { requestId, inputDigest } = event
  await call(server, `POST /v1/sessions/${id}/requests/${requestId}`, {
    body: { decision: 'allow', inputDigest },
  })
  expect((await waitFor(id, 'turn.completed')).event).toMatchObject({ outcome: 'completed' })
  expect(readFileSync(answersFile(), 'utf8')).toBe('{"behavior":"allow"}\n')
})
