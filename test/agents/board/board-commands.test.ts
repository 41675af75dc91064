import { describe, expect, it } from 'vitest'
import type { Command } from '../../../src/model/index.ts'
import { BoardTalk, SESSION, working } from './board-talk.ts'

describe('commands to a board', () => {
  const cancel = { kind: 'http', method: 'POST', path: `/api/sessions/${SESSION}/cancel`, tag: 'cancel' }

  it('start with a session for the prompt, named after the directory', () => {
    const { calls } = working()
    expect(calls).toEqual([
      {
        kind: 'http',
        method: 'POST',
        path: '/api/sessions',
        tag: 'prompt',
        body: { agentId: 'claude', projectId: 'my-project', prompt: 'Refactor the authentication module' },
      },
    ])
  })

  it('interrupt by cancelling, once there is something to cancel', () => {
    const talk = working()
    talk.command({ type: 'interrupt' })
    expect(talk.calls.slice(1)).toEqual([cancel])
    const early = new BoardTalk()
    early.prompt('Go')
    early.command({ type: 'interrupt' })
    expect(early.calls).toHaveLength(1)
    early.http('prompt', 201, { id: SESSION })
    expect(early.calls.slice(1)).toEqual([cancel])
    const idle = new BoardTalk()
    idle.command({ type: 'interrupt' })
    expect(idle.calls).toEqual([])
  })

  it('that interrupt end as interrupted, with or without a report of the board', () => {
    const told = working()
    told.emit('action', { tool: 'Bash', args: { command: 'npm test' } })
    told.command({ type: 'interrupt' })
    told.http('cancel', 200)
    told.emit('cancelled', {})
    told.http('state', 200, { state: 'cancelled' })
    told.exit({ code: 0 }, 'interrupt')
    expect(told.of('tool.completed')).toMatchObject([{ status: 'cancelled', settled: true }])
    expect(told.outcomes).toEqual(['interrupted'])
    const silent = working()
    silent.exit({}, 'interrupt')
    expect(silent.outcomes).toEqual(['interrupted'])
  })

  it('that come too late change nothing', () => {
    const talk = working()
    talk.command({ type: 'interrupt' })
    talk.http('cancel', 409, { message: 'it is done' })
    talk.http('state', 200, { state: 'done' })
    talk.exit({ code: 0 }, 'interrupt')
    expect(talk.of('notice.raised').map(({ code, message }) => [code, message])).toEqual([
      ['interrupt_refused', 'the board returned 409: it is done'],
      ['interrupt_refused', expect.stringContaining('ended by itself')],
    ])
    expect(talk.outcomes).toEqual(['completed'])
  })

  it('that were never confirmed raise a warning', () => {
    const talk = working()
    const message = `session ${SESSION} may still be running`
    talk.exit({ error: { code: 'connection_failed', message } }, 'interrupt')
    expect(talk.of('notice.raised')).toMatchObject([{ level: 'warning', code: 'interrupt_refused', message }])
    expect(talk.outcomes).toEqual(['interrupted'])
  })

  it.each<Command>([
    { type: 'steer', text: 'faster' },
    { type: 'answer', requestId: 'r', decision: 'allow' },
    { type: 'set_model', model: 'm' },
    { type: 'set_policy', mode: 'plan' },
    { type: 'prompt', text: 'look', images: [{ mimeType: 'image/png', data: 'AA==' }] },
  ])('cannot be $type', (command) => {
    const { refused, writes } = new BoardTalk().command(command)
    expect(refused).toMatchObject({ code: 'unsupported_option' })
    expect(writes).toEqual([])
  })

  it('take one prompt a session: another would know nothing of the first', () => {
    expect(working().command({ type: 'prompt', text: 'more' }).refused).toMatchObject({ code: 'conflict' })
    const later = new BoardTalk(SESSION)
    expect(later.prompt('and now?').refused).toMatchObject({
      code: 'unsupported_option',
      message: expect.stringContaining('one prompt'),
    })
    expect(later.calls).toEqual([])
  })

  it('close by ending the connection', () => {
    const talk = new BoardTalk()
    talk.command({ type: 'close' })
    expect(talk.calls).toEqual([{ kind: 'end' }])
  })
})
