import { describe, expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { isAlive } from '../fake-run.ts'
import { Opencode2, Play } from './opencode2-play.ts'

const ALL = { policy: { approval: 'auto-all', sandbox: 'none' } } as const

const posts = (play: Play) =>
  play.opencode.calls(/^(?:POST|DELETE|PUT)/).map(({ method, path, body }) => ({
    call: `${method} ${path.replace(/(?:ses|msg|per|frm)_\w+/g, 'ID')}`,
    body,
  }))

const decisions = (play: Play) => play.opencode.calls(/\/permission\//).map(({ body }) => body)

const outcomes = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'turn.completed' ? [event.outcome] : []))

describe('the version that is found decides', () => {
  test('`opencode` starts the private server of version 2, and says how far it is verified', async () => {
    await using play = new Play(ALL)
    await play.prompt('text please')
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed', usage: { input: 70 } })
    const events = await play.end()
    const notice = events.find((event) => event.type === 'notice.raised' && event.code === 'untested_version')
    expect(notice).toMatchObject({
      message: expect.stringContaining('OpenCode 2 2.0.17 is verified by record'),
    })
    expect(posts(play).map(({ call }) => call)).toEqual(['POST /api/session', 'POST /api/session/ID/prompt'])
  })

  test('a one-shot run is a live turn whose process ends with it', async () => {
    await using play = new Play({ ...ALL, launch: 'oneshot' })
    await play.prompt('think_tool please')
    await play.next('turn.completed')
    await play.prompt('text please')
    await play.next('turn.completed')
    expect(outcomes(await play.end())).toEqual(['completed', 'completed'])
    // The second process resumes the session of the first.
    expect(play.opencode.calls(/POST \/api\/session$/).length).toBe(1)
    expect(play.opencode.calls(/GET \/api\/info/).length).toBe(2)
  })

  test('a server that is neither the released one nor its preview is refused', async () => {
    await using play = new Play(ALL, new Opencode2('silent'))
    await play.prompt('text please')
    expect(await play.next('turn.completed')).toMatchObject({
      outcome: 'failed',
      error: { code: 'agent_not_ready', message: expect.stringContaining('/api/info and /api/health') },
    })
  })

  test('a server that is still starting is asked again', async () => {
    await using play = new Play(ALL, new Opencode2('starting'))
    await play.prompt('text please')
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed' })
  })

  test('the preview gets the bodies that it had', async () => {
    await using play = new Play({}, new Opencode2('preview'))
    await play.prompt('perm_bash_once please')
    await play.answer({ decision: 'allow' })
    await play.next('turn.completed')
    expect(decisions(play)).toEqual([{ reply: 'once' }])
  })
})

describe('before the first prompt', () => {
  test('the agents and the MCP servers of the directory are loaded', async () => {
    await using play = new Play(ALL, new Opencode2('cold'))
    await play.prompt('text please')
    await play.next('turn.completed')
    const order = play.opencode
      .calls(/agent\?|mcp\?|prompt/)
      .map(({ path }) => /agent|mcp|prompt/.exec(path)?.[0])
    expect(order).toEqual(['agent', 'agent', 'mcp', 'mcp', 'prompt'])
  })

  test('the rules are in the configuration, and denied tools in those of the session', async () => {
    const tools = { denied: ['execute'] }
    await using play = new Play({ policy: { approval: 'ask', sandbox: 'none', tools } })
    await play.prompt('text please')
    await play.next('turn.completed')
    const denied = { action: 'shell', resource: '*', effect: 'deny' }
    expect(posts(play)[0]?.body).toMatchObject({ permissions: [denied] })
  })
})

describe('permissions', () => {
  test('"for the session" is kept here: the server gets `once`, and is answered without a person then', async () => {
    await using play = new Play()
    await play.prompt('perm_bash_once please')
    await play.answer({ decision: 'allow', scope: 'session' })
    await play.next('turn.completed')
    await play.prompt('perm_bash_once please')
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed' })
    expect(decisions(play)).toEqual([{ decision: 'once' }, { decision: 'once' }])
    const opened = (await play.end()).filter(({ type }) => type === 'request.opened')
    expect(opened.length).toBe(1)
  })

  test('a denial with a message continues, and the call is denied', async () => {
    await using play = new Play()
    await play.prompt('perm_bash_reject_message please')
    await play.answer({ decision: 'deny', message: 'use another one' })
    expect(await play.next('tool.completed')).toMatchObject({ status: 'denied', deniedBy: 'person' })
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed', denials: 1 })
    expect(decisions(play)).toEqual([{ decision: 'reject', message: 'use another one' }])
  })

  test('a denial without one ends the turn, and denies the other requests', async () => {
    await using play = new Play()
    await play.prompt('perm_two_tools_reject please')
    await play.answer({ decision: 'deny' })
    expect(await play.next('request.withdrawn')).toMatchObject({ reason: 'agent', decision: 'deny' })
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed', denials: 2 })
    expect(decisions(play)).toEqual([{ decision: 'reject' }])
  })

  test('a question is answered by its key, and a dismissed one is deleted', async () => {
    await using play = new Play()
    await play.prompt('question_answer please')
    await play.answer({ decision: 'answered', answers: { q0: ['B'] } })
    await play.next('turn.completed')
    await play.prompt('question_cancel please')
    await play.answer({ decision: 'deny' })
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed', denials: 1 })
    expect(posts(play).filter(({ call }) => call.includes('/form/'))).toEqual([
      { call: 'POST /api/session/ID/form/ID/reply', body: { answer: { q0: 'B' } } },
      { call: 'DELETE /api/session/ID/form/ID', body: {} },
    ])
  })
})

describe('prompts', () => {
  test('have our own ids, one at a time, and are queued here', async () => {
    await using play = new Play(ALL)
    const turns = [await play.prompt('text one'), await play.prompt('think_tool two')]
    for (const turn of turns) expect(await play.next('turn.completed')).toMatchObject({ turn })
    const sent = play.opencode.calls(/prompt/).map(({ body }) => String(body.id))
    expect(sent).toEqual([expect.stringMatching(/^msg_[0-9a-f]{12}mainstem/), expect.stringMatching(/^msg_/)])
    expect([...sent].sort()).toEqual(sent)
  })

  test('that are interrupted before the model reads them are removed from the inbox', async () => {
    await using play = new Play(ALL)
    await play.prompt('never read')
    await play.line(/^a prompt waits/)
    await (await play.session).interrupt()
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'interrupted' })
    expect(posts(play).map(({ call }) => call)).toEqual([
      'POST /api/session',
      'POST /api/session/ID/prompt',
      'POST /api/session/ID/interrupt',
      'DELETE /api/session/ID/inbox/ID',
    ])
  })

  test('interrupt the tool that runs', async () => {
    await using play = new Play(ALL)
    await play.prompt('interrupt_tool please')
    await play.next('tool.started')
    await (await play.session).interrupt()
    expect(await play.next('tool.completed')).toMatchObject({ status: 'cancelled' })
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'interrupted' })
  })
})

describe('/compact', () => {
  test.each(['live', 'oneshot'] as const)('compacts the conversation in a turn: %s', async (launch) => {
    await using play = new Play({ ...ALL, launch })
    await play.prompt('text please')
    await play.next('turn.completed')
    await play.prompt('/compact')
    expect(await play.next('context.compacted')).toMatchObject({ trigger: 'manual' })
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed' })
    await play.prompt('text again')
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed' })
    const calls = posts(play).filter(({ call }) => /(?:compact|prompt)$/.test(call))
    expect(calls.map(({ call }) => call)).toEqual([
      'POST /api/session/ID/prompt',
      'POST /api/session/ID/compact',
      'POST /api/session/ID/prompt',
    ])
  })

  test('is removed when it is interrupted before it began', async () => {
    await using play = new Play(ALL, new Opencode2('never compacts'))
    await play.prompt('/compact')
    await play.line(/^a compaction waits/)
    await (await play.session).interrupt()
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'interrupted' })
    expect(posts(play).map(({ call }) => call)).toEqual([
      'POST /api/session',
      'POST /api/session/ID/compact',
      'POST /api/session/ID/interrupt',
      'DELETE /api/session/ID/inbox/ID',
    ])
  })
})

describe('a stream that breaks', () => {
  test('is opened again, and the state is read: calls, texts and the end of the turn', async () => {
    await using play = new Play()
    await play.prompt('perm_bash_once please')
    const pid = await play.pid()
    await play.next('request.opened')
    process.kill(pid, 'SIGUSR2')
    expect(await play.next('request.withdrawn')).toMatchObject({ reason: 'answered_elsewhere' })
    expect(await play.next('turn.completed')).toMatchObject({
      outcome: 'completed',
      result: 'The command succeeded.',
      usage: { input: 150 },
    })
    const events = await play.end()
    expect(events.filter(({ type }) => type === 'tool.completed')).toMatchObject([
      { name: 'shell', status: 'success', output: 'hello-from-shell\nto-stderr\n' },
    ])
    const missing = events.find((event) => event.type === 'notice.raised' && event.code === 'events_missing')
    expect(missing).toMatchObject({ data: { messages: [expect.stringMatching(/:t0$/)] } })
    expect(play.opencode.calls(/GET .*\/(?:message|permission|form|inbox|active)$/).length).toBe(7)
    expect(isAlive(pid)).toBe(false)
  })

  test('with its server crashes the turn, and the next process removes the prompt that was not read', async () => {
    await using play = new Play(ALL)
    await play.prompt('text first')
    const pid = await play.pid()
    await play.next('turn.completed')
    await play.prompt('never read')
    await play.line(/^a prompt waits/)
    process.kill(pid, 'SIGKILL')
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'crashed' })
    await play.prompt('text again')
    expect(await play.next('turn.completed')).toMatchObject({ outcome: 'completed' })
    expect(posts(play).filter(({ call }) => call.startsWith('DELETE')).length).toBe(1)
  })
})
