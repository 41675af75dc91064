import { expect, test } from 'vitest'
import { check } from '../../faults/check/check.ts'
import { ClientHistory, type Evidence } from '../../faults/check/evidence.ts'
import type { Note } from '../../faults/fakes/history.ts'
import type { Entry, Event } from '../../src/model/index.ts'
import { asks, house, init, result, said } from '../sessions/house.ts'
import { bound } from '../sessions/turns/bound-answer.ts'

const ASKED = { turn: 1, prompt: 'p1 go' }

/** A log in which p1 asked once and was answered, with the histories of its client and its agent. */
async function sound(): Promise<Evidence & { session: string; notes: Note[]; clients: ClientHistory }> {
  const { open, driver, store } = house()
  const session = await open()
  const turn = await session.prompt(ASKED.prompt)
  const run = await driver.run()
  const lines = [init, said('p1.1 '), asks('p1#1', 'Bash', 'p1#1')]
  run.say(...lines)
  await expect.poll(() => session.coverage.frames).toBe(3)
  await session.answer(
    await bound(store, session.id, { type: 'answer', requestId: 'e1.p1#1', decision: 'allow' }),
  )
  run.say(result('p1 done'))
  await session.settled(turn)
  const clients = new ClientHistory()
  clients.prompts.push({ text: ASKED.prompt, session: session.id, turn })
  clients.answers.push({ session: session.id, requestId: 'e1.p1#1', decision: 'allow', status: 200 })
  const entries = await store.read(session.id, 0, 100)
  const notes: Note[] = [
    { type: 'started', agent: 'claude', launch: 'live', session: session.id, epoch: 1 },
    { type: 'prompt', name: 'p1', text: ASKED.prompt },
    { type: 'wrote', name: 'p1', text: 'p1.1 ' },
    ...lines.map((line): Note => ({ type: 'line', text: JSON.stringify(line) })),
    { type: 'asked', name: 'p1', call: 'p1#1' },
    { type: 'answered', call: 'p1#1', decision: 'allow' },
    { type: 'ran', call: 'p1#1' },
    { type: 'ended', name: 'p1', how: 'done' },
    { type: 'line', text: JSON.stringify(result('p1 done')) },
  ]
  return {
    session: session.id,
    notes,
    logs: new Map([[session.id, entries]]),
    journals: new Map([[session.id, await store.readJournal(session.id, 0, 100)]]),
    histories: [{ process: 'one', notes }],
    clients,
    secrets: new Map(),
  }
}

function changed(evidence: Evidence, change: (event: Event) => Event): Evidence {
  const logs = new Map<string, Entry[]>()
  for (const [id, entries] of evidence.logs)
    logs.set(
      id,
      entries.map((entry) => ({ ...entry, event: change(entry.event) })),
    )
  return { ...evidence, logs }
}

test('histories that agree have no findings', async () => {
  expect(check(await sound()).all).toEqual([])
})

test('text of another prompt, missing text and changed text are found', async () => {
  const evidence = await sound()
  const withText = (text: string) =>
    check(changed(evidence, (event) => (event.type === 'text.completed' ? { ...event, text } : event))).all
  expect(withText('p2.1 ')).toEqual([expect.stringContaining('has the output of p2')])
  expect(withText('p1.')).toEqual([expect.stringContaining('has 3 characters of p1, and 5 were written')])
  expect(withText('')).toEqual([expect.stringContaining('has 0 characters of p1')])
})

test('an answer that no client sent, that arrives twice or that lets nothing run is found', async () => {
  const unsent = await sound()
  unsent.clients.answers.length = 0
  expect(check(unsent).all).toEqual([expect.stringContaining('which no client sent')])
  const twice = await sound()
  twice.notes.push({ type: 'answered', call: 'p1#1', decision: 'allow' })
  expect(check(twice).all).toEqual([expect.stringContaining('was answered 2 times')])
  const idle = await sound()
  idle.notes.splice(
    idle.notes.findIndex(({ type }) => type === 'ran'),
    1,
  )
  expect(check(idle).all).toEqual([expect.stringContaining('was allowed and did not run')])
})

test('a denied call that ran is found', async () => {
  const evidence = await sound()
  const [answer] = evidence.clients.answers
  if (answer) answer.decision = 'deny'
  const denied = changed(evidence, (event) =>
    event.type === 'request.resolved' ? { ...event, decision: 'deny' } : event,
  )
  expect(check(denied).all).toEqual([
    expect.stringContaining('received "allow"'),
    expect.stringContaining('p1#1 ran; the log has deny'),
  ])
})

test('a prompt that the agent received twice, and one that is nowhere, are found', async () => {
  const evidence = await sound()
  evidence.notes.push({ type: 'prompt', name: 'p1', text: ASKED.prompt })
  evidence.clients.prompts.push({ text: 'p9 go', session: evidence.session, turn: 9 })
  expect(check(evidence).all).toEqual([
    expect.stringContaining('lost: p9 go was promised'),
    expect.stringContaining('repeated: the agent received p1 2 times'),
    expect.stringContaining('ended 0 times'),
  ])
})

test('an interrupt that was confirmed too early is found', async () => {
  const evidence = await sound()
  evidence.clients.interrupts.push({ session: evidence.session, turn: 1, head: 2 })
  expect(check(evidence).all).toEqual([expect.stringContaining('turn 1 was confirmed at 2')])
})

test('a missing frame, a line that was never printed and a secret are found', async () => {
  const evidence = await sound()
  const frames = evidence.journals.get(evidence.session) ?? []
  const withFrames = (journal: typeof frames) =>
    check({ ...evidence, journals: new Map([[evidence.session, journal]]) }).of('journal')
  const second = frames.filter(({ stream }) => stream === 'stdout')[1]
  expect(withFrames(frames.filter((frame) => frame !== second))).not.toEqual([])
  expect(withFrames(frames.map((frame) => (frame === second ? { ...frame, text: '{}' } : frame)))).toEqual([
    expect.stringContaining('line 2 is not what the agent printed next'),
  ])
  expect(check({ ...evidence, secrets: new Map([['p1 done', '*']]) }).of('secret')).toHaveLength(2)
})
