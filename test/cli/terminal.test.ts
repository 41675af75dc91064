import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { Printer } from '../../src/cli/render/printer.ts'
import { clockTime } from '../../src/cli/render/view.ts'
import { Terminal } from '../../src/cli/terminal/terminal.ts'
import { match } from '../../src/cli/turn/session-ref.ts'
import { advance, newStatus, statusLine } from '../../src/cli/turn/status.ts'
import { promptFrom } from '../../src/cli/turn/stdin-prompt.ts'
import type { Event } from '../../src/model/index.ts'
import { nearest } from '../../src/model/text/nearest.ts'
import { SAMPLES } from '../model/samples.ts'

/** A small terminal: it knows line breaks, carriage returns, and the sequences that we print. */
function screenOf(output: string): string[] {
  const lines = ['']
  let row = 0
  let column = 0
  for (const [piece] of output.matchAll(/\x1b\[(\d*)([A-Z])|[\s\S]/g)) {
    const [, number = '1', letter] = /^\x1b\[(\d*)([A-Z])$/.exec(piece) ?? []
    if (letter === 'K') lines[row] = ''
    else if (letter === 'A') row -= Number(number)
    else if (letter === 'G') column = Number(number) - 1
    else if (piece === '\r') column = 0
    else if (piece === '\n') {
      row++
      column = 0
      lines[row] ??= ''
    } else {
      lines[row] =
        (lines[row] ?? '').slice(0, column).padEnd(column) + piece + (lines[row] ?? '').slice(column + 1)
      column++
    }
  }
  return lines
}

describe('the status line', () => {
  const shown = async (drive: (terminal: Terminal) => Promise<void>) => {
    const output = new PassThrough()
    let text = ''
    output.on('data', (chunk) => {
      text += chunk
    })
    await drive(new Terminal(new Printer(output), () => 20))
    return screenOf(text)
  }

  test('is below the transcript, also in the middle of a line, and leaves no trace', async () => {
    const lines = await shown(async (terminal) => {
      await terminal.print('one\n')
      await terminal.status('working')
      await terminal.print('two thr')
      await terminal.status('still working')
      await terminal.print('ee\nfour\n')
      await terminal.status('')
    })
    expect(lines.map((line) => line.trimEnd())).toEqual(['one', 'two three', 'four', ''])
  })

  test('is cut to the width', async () => {
    const lines = await shown((terminal) => terminal.status('a line that is too long for it'))
    expect(lines[0]).toBe('a line that is too…')
  })

  test('shows time, tool, tokens and silence of a turn, and nothing between turns', () => {
    const status = newStatus()
    let seq = 0
    const take = (event: Event, now: number) =>
      advance(status, { session: '', seq: ++seq, turn: 1, at: 0, event }, now)
    expect(statusLine(status, 0)).toBe('')
    take({ type: 'turn.started', turn: 1, origin: 'prompt' }, 1_000)
    take({ type: 'usage.reported', scope: 'step', total: 1_200, source: 'agent' }, 2_000)
    take({ type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute' }, 3_000)
    expect(statusLine(status, 45_000)).toContain('0:44 · Bash · 1,200 tokens · no output for 0:42')
    take({ type: 'turn.completed', turn: 1, outcome: 'completed', durationMs: 1, denials: 0 }, 50_000)
    expect(statusLine(status, 51_000)).toBe('')
  })

  test('shows paths of the call relative to the directory of the session', () => {
    const events: Event[] = [
      SAMPLES['session.started'],
      { type: 'turn.started', turn: 1, origin: 'prompt' },
      { type: 'tool.started', toolId: 't', name: 'Read', kind: 'read', title: '/project/src/a.ts' },
    ]
    const lines = [events, events.slice(1)].map((shown, index) => {
      const status = { ...newStatus(), cwd: index === 0 ? '' : '/project' }
      for (const [seq, event] of shown.entries())
        advance(status, { session: '', seq: seq + 1, turn: 1, at: 0, event }, 0)
      return statusLine(status, 0)
    })
    for (const line of lines) expect(line).toContain(' · Read src/a.ts · ')
  })

  test('counts hours', () => {
    expect([clockTime(42_000), clockTime(725_000), clockTime(3_723_000)]).toEqual([
      '0:42',
      '12:05',
      '1:02:03',
    ])
  })
})

describe('a prompt', () => {
  const silent = { argument: 'do it', silenceMs: 1, warn: () => undefined }

  test('that is given does not wait for a silent input', async () => {
    const stdin = new PassThrough()
    expect(await promptFrom({ ...silent, stdin })).toBe('do it')
    expect(stdin.destroyed).toBe(true)
  })

  test('is refused where there is neither argument nor input', async () => {
    const asked = promptFrom({ ...silent, argument: undefined, stdin: new PassThrough() })
    await expect(asked).rejects.toThrow('no prompt on standard input within 0.001 s')
    const terminal = Object.assign(new PassThrough(), { isTTY: true })
    await expect(promptFrom({ ...silent, argument: undefined, stdin: terminal })).rejects.toThrow('no prompt')
  })

  test('ignores an empty input', async () => {
    const stdin = new PassThrough().end('\n')
    expect(await promptFrom({ ...silent, silenceMs: 60_000, stdin })).toBe('do it')
  })
})

describe('a reference to a session', () => {
  const sessions = [
    { id: 'abc11111' },
    { id: 'abc22222', name: 'review' },
    { id: 'def33333', name: 'review' },
  ]

  test('is the last, a name (the newest of it), or the beginning of an id', () => {
    expect(match('last', sessions).id).toBe('abc11111')
    expect(match('review', sessions).id).toBe('abc22222')
    expect(match('DE', sessions).id).toBe('def33333')
  })

  test('that fits several is refused with what would be enough', () => {
    expect(() => match('abc', sessions)).toThrow('2 sessions begin with "abc"')
    expect(() => match('', sessions)).toThrow('there is no session ""')
    expect(() => match('last', [])).toThrow('there are no sessions yet')
  })

  test('that fits none suggests the nearest', () => {
    expect(nearest('reveiw', ['review', 'abc11111'])).toBe('review')
    expect(nearest('something', ['review'])).toBeUndefined()
  })
})
