import { describe, expect, test } from 'vitest'
import type { Session } from '../../../src/sessions/session.ts'
import { decodeJournal, encodeJournal, joinFrames, splitFrames } from '../../../src/stores/journal-body.ts'
import { house, init, result, said } from '../house.ts'
import { codecOf, journalProblems } from './journal-fold.ts'
import { PROTOCOLS, type Script } from './scripted-protocols.ts'

/** The journal as a database returns it. */
const stored = async ({ store }: ReturnType<typeof house>, { id }: Session) =>
  splitFrames(decodeJournal(encodeJournal(joinFrames(await store.readJournal(id, 0, 1_000)))))

function protocolOf(name: string) {
  const found = PROTOCOLS.find(([one]) => one === name)
  if (!found) throw new Error(`no protocol is called ${name}`)
  return found[1]
}

describe.each(PROTOCOLS)('%s', (_, protocol) => {
  test('the state of the process can be rebuilt at every frame of the journal', async () => {
    const made = house()
    const scripts: Script[] = []
    made.driver.onStart = (run) => scripts.push(protocol.script(run))
    const approval = protocol.agent === 'pi' ? 'auto-all' : 'ask'
    const session = await made.open({ approval }, { agent: protocol.agent })
    const prompted = (count: number) => expect.poll(() => scripts[0]?.prompts).toBe(count)
    for (const turn of [1, 2]) {
      await session.prompt(`prompt ${turn}`)
      await prompted(turn)
      scripts[0]?.begin(turn)
      scripts[0]?.say(turn, `text ${turn}`)
      scripts[0]?.finish(turn, `text ${turn}`)
      await session.settled(turn)
    }
    await session.prompt('prompt 3')
    await prompted(3)
    scripts[0]?.begin(3)
    const done = session.interrupt()
    await expect.poll(() => scripts[0]?.interrupts).toBe(1)
    scripts[0]?.stopped(3)
    scripts[0]?.acknowledge?.()
    await done

    const journal = await stored(made, session)
    const log = await made.log(session)
    expect(journalProblems(codecOf(protocol.agent, 'live'), journal, log)).toEqual([])
    const sent = journal.filter(({ stream }) => stream === 'sent').map(({ text }) => JSON.parse(text))
    expect(sent.flatMap(({ command }) => command?.type ?? [])).toEqual([
      'open',
      'prompt',
      'prompt',
      'prompt',
      'interrupt',
    ])
    const [run] = made.driver.runs
    expect(sent.flatMap(({ writes = [] }) => writes)).toEqual(run?.written)
  })
})

test('what is sent waits for the commit of an entry or a frame, and causes none', async () => {
  const made = house()
  const session = await made.open()
  await session.prompt('go')
  const run = await made.driver.run()
  run.say(init, said('text'))
  await expect.poll(() => made.types(session)).toContain('text.completed')
  const before = await made.store.readJournal(session.id, 0, 100)
  const done = session.interrupt()
  await expect.poll(() => run.input).toContain('"interrupt"')
  expect(await made.store.readJournal(session.id, 0, 100)).toEqual(before)
  run.die({ code: 0 })
  await done
  const after = await made.store.readJournal(session.id, 0, 100)
  expect(after.slice(before.length).map(({ text }) => JSON.parse(text).command)).toEqual([
    { type: 'interrupt' },
  ])
  const { frames, coverage } = (await made.store.record(session.id)) ?? {}
  expect({ frames, read: coverage?.frames }).toEqual({ frames: after.length, read: 2 })
})

async function texts(
  { store }: ReturnType<typeof house>,
  session: Session,
  awaited: string,
): Promise<string> {
  const all = async () => (await store.readJournal(session.id, 0, 100)).map(({ text }) => text).join('\n')
  await expect.poll(all).toContain(awaited)
  return all()
}

test('secrets, variables and headers that are sent are not in the journal', async () => {
  const made = house()
  made.driver.onStart = (run) => void protocolOf('acp').script(run)
  const secret = 'a "secret"\nvalue'
  const headers = { 'x-color': 'ruby', authorization: secret, 'x-none': '' }
  const mcpServers = { one: { url: 'http://127.0.0.1:1/', headers, env: { REGION: 'mars' } } }
  const session = await made.open({}, { agent: 'gemini', options: { env: { API_KEY: secret }, mcpServers } })
  await session.prompt(`the key is ${secret}`)
  const journal = await texts(made, session, 'session/prompt')
  expect((await made.driver.run()).input).toContain('ruby')
  for (const hidden of ['ruby', 'mars', 'secret']) expect(journal).not.toContain(hidden)
  expect(journal).toContain('[hidden]')
  expect(journal).toContain(`[masked ${secret.length}]`)
})

test.each(['claude', 'codex'])('images that are sent to %s are not in the journal', async (name) => {
  const made = house()
  made.driver.onStart = (run) => void protocolOf(name).script(run)
  const session = await made.open({}, { agent: name })
  const image = { mimeType: 'image/png', data: Buffer.alloc(99_999, 7).toString('base64') }
  await session.prompt('look', [image])
  const run = await made.driver.run()
  await expect.poll(() => run.input).toContain(image.data)
  run.say({})
  const journal = await texts(made, session, '{}')
  expect(journal).not.toContain(image.data.slice(0, 99))
  expect(journal).toContain(`[${image.data.length} characters]`)
})

test('a journal of an older version has frames of the agent only, and is read as it was', async () => {
  const made = house()
  const session = await made.open()
  await session.prompt('go')
  const run = await made.driver.run()
  run.say(init, result('done'))
  await session.settled(1)
  const old = (await stored(made, session)).filter(({ stream }) => stream !== 'sent')
  expect(splitFrames('[1,"stdout",2,2,"stderr",4]\n{}oops')).toEqual([
    { frame: 1, stream: 'stdout', text: '{}' },
    { frame: 2, stream: 'stderr', text: 'oops' },
  ])
  expect(old.map(({ stream }) => stream)).toEqual(['stdout', 'stdout'])
})
