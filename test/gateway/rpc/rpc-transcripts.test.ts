import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agents } from '../../../src/agents/index.ts'
import type { Timers } from '../../../src/drivers/driver.ts'
import { systemTimers } from '../../../src/drivers/timers.ts'
import type { TestGateway } from '../start.ts'
import { startRpc } from './rpc.ts'
import { Transcript } from './rpc-transcript.ts'

/** Every change from one of the four modes to another, and to itself, one after the other. */
const WALK = 'ask ask auto ask code ask plan auto auto code auto plan code code plan plan ask'.split(' ')

const FAKE = fileURLToPath(new URL('../../../faults/fakes/agent.ts', import.meta.url))
/** The pauses of the demo take no time; deadlines are far longer. */
const quick: Timers = {
  sleep: (ms, signal) => (ms < 5_000 ? setImmediate() : systemTimers.sleep(ms, signal)),
}

const AGENTS = ['claude', 'codex', 'gemini', 'opencode']

let histories: string
let server: TestGateway
beforeEach(async () => {
  histories = mkdtempSync(join(tmpdir(), 'transcripts-'))
  const settings = Object.fromEntries(
    AGENTS.map((id) => [id, { command: [process.execPath, FAKE, histories, id] }]),
  )
  const more = agents.filter(({ id }) => AGENTS.includes(id))
  server = await startRpc({ more, settings, timers: systemTimers })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(histories, { recursive: true })
  expect(server.reported).toEqual([])
})

async function walk(transcript: Transcript, model: string): Promise<void> {
  for (const mode of WALK) await transcript.call('session.set_mode', { mode })
  for (const chosen of [model, model, null, null])
    await transcript.call('session.set_model', { model: chosen })
  await transcript.call('session.list')
}

test('echo', async () => {
  const transcript = await Transcript.begin(server, { cli_type: 'echo', mode: 'ask' })
  await walk(transcript, 'other')
  await transcript.send('hello')
  await walk(transcript, 'other')
  await transcript.send('again')
  await transcript.end()
  await expect(transcript.text).toMatchFileSnapshot('transcripts/echo.txt')
})

test('demo', async () => {
  await using house = await startRpc({ more: agents.filter(({ id }) => id === 'demo'), timers: quick })
  const transcript = await Transcript.begin(house, { cli_type: 'demo', mode: 'ask' })
  await walk(transcript, 'other')
  await transcript.send('go')
  transcript.note('the turn waits for an answer')
  await walk(transcript, 'other')
  await transcript.call('session.interrupt')
  await transcript.call('session.reconnect')
  await transcript.end()
  await expect(transcript.text).toMatchFileSnapshot('transcripts/demo.txt')
})

describe.each(AGENTS)('a fake %s', (id) => {
  const model = id === 'opencode' ? 'p/other' : 'other'

  test('takes a client through its flows', { timeout: 30_000 }, async () => {
    const transcript = await Transcript.begin(server, { cli_type: id, mode: 'ask' })
    await walk(transcript, model)
    await transcript.send('m1 say')
    await walk(transcript, model)
    await transcript.send('m2 say')

    transcript.note('a message waits, the client is cut off, and comes back')
    const cut = await transcript.open('m3 say hang')
    await cut.until('m3.11')
    await transcript.call('session.set_mode', { mode: 'plan' })
    await transcript.send('m4 say')
    await transcript.drop(cut)
    await transcript.call('session.queue_stats')
    await transcript.call('session.interrupt')
    await transcript.call('session.reconnect')
    await transcript.call('session.queue_stats')
    await transcript.call('session.reconnect')
    await transcript.send('m5 say')
    await transcript.end()
    await expect(transcript.text).toMatchFileSnapshot(`transcripts/${id}.txt`)
  })
})
