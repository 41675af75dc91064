import { describe, expect, it } from 'vitest'
import { type BoardTalk, working } from './board-talk.ts'

const edit = {
  tool: 'Edit',
  args: {
    file_path: '/src/auth.ts',
    old_string: 'function login()',
    new_string: 'async function login()',
  },
}
const diff = { file: 'src/auth.ts', diff: '@@ -10,5 +10,8 @@\n-old line\n+new line' }
const updated = { tool: 'Edit', success: true, output: 'File updated successfully' }

const read = (file: string, more: object = {}) => ({ tool: 'Read', args: { file_path: file }, ...more })
const outputs = (talk: BoardTalk) =>
  talk.of('tool.completed').map(({ toolId, output, status }) => [toolId.slice(-1), output, status])

describe('calls of a tool', () => {
  it('of the same name end in the order in which they started', () => {
    const talk = working()
    talk.emit('action', read('/a'))
    talk.emit('action', read('/b'))
    talk.emit('action', edit)
    talk.emit('toolResult', { tool: 'Read', success: true, output: 'a' })
    talk.emit('toolResult', { tool: 'Edit', success: true, output: 'e' })
    talk.emit('toolResult', { tool: 'Read', success: false, output: 'b' })
    expect(outputs(talk)).toEqual([
      ['1', 'a', 'success'],
      ['3', 'e', 'success'],
      ['2', 'b', 'error'],
    ])
  })

  it('end by id if the board sends one', () => {
    const talk = working()
    talk.emit('action', read('/a', { toolId: 'A' }))
    talk.emit('action', read('/b', { toolId: 'B' }))
    talk.emit('toolResult', { tool: 'Read', success: true, output: 'b', toolId: 'B' })
    talk.emit('toolResult', { tool: 'Read', success: true, output: 'a', toolId: 'A' })
    expect(outputs(talk)).toEqual([
      ['2', 'b', 'success'],
      ['1', 'a', 'success'],
    ])
  })

  it('without a start are still reported', () => {
    const talk = working()
    talk.emit('toolResult', { tool: 'Bash', success: true, output: 'ok' })
    const call = { toolId: expect.stringMatching(/1$/), name: 'Bash', kind: 'execute' }
    expect(talk.events.slice(2)).toEqual([
      { type: 'tool.started', ...call },
      { type: 'tool.completed', ...call, status: 'success', output: 'ok' },
    ])
  })

  it('may end with the detailed status of some boards', () => {
    const talk = working()
    talk.emit('action', read('/a'))
    talk.emit('toolResult', {
      tool: 'Read',
      success: false,
      output: '',
      status: 'denied',
      error: 'not allowed',
    })
    talk.emit('action', read('/b'))
    talk.emit('toolResult', { tool: 'Read', success: true, output: { lines: 3 }, status: 'error' })
    expect(talk.of('tool.completed')).toMatchObject([
      { status: 'denied', output: '', error: 'not allowed' },
      { status: 'success', data: { lines: 3 } },
    ])
    talk.close('done')
    // The board has weighed the refusal, and calls the session done.
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed', denials: 1 }])
  })

  it.each([
    ['Grep', 'search'],
    ['run_shell_command', 'execute'],
    ['commandExecution', 'execute'],
    ['TaskCreate', 'think'],
    ['invoke_agent', 'task'],
    ['mcp__db__query', 'mcp'],
    ['mcp_db_query', 'mcp'],
    ['constructor', 'other'],
  ])('of %s are of kind %s', (tool, kind) => {
    const talk = working()
    talk.emit('action', { tool, args: {} })
    expect(talk.of('tool.started')).toMatchObject([{ kind, input: {} }])
  })
})

describe('a change', () => {
  it('outside of any call is emitted alone', () => {
    const talk = working()
    talk.emit('diff', diff)
    expect(talk.events.at(-1)).toEqual({
      type: 'file.changed',
      path: 'src/auth.ts',
      change: 'modified',
      diff: diff.diff,
    })
  })

  it('belongs to the call that refers to its file, and waits for it', () => {
    const talk = working()
    talk.emit('action', read('/src/other.ts'))
    talk.emit('action', edit)
    talk.emit('diff', diff)
    expect(talk.of('file.changed')).toEqual([])
    talk.emit('toolResult', { tool: 'Read', success: true, output: '' })
    expect(talk.of('file.changed')).toEqual([])
    talk.emit('toolResult', updated)
    expect(talk.events.slice(-2)).toMatchObject([
      { type: 'file.changed', toolId: expect.stringMatching(/2$/) },
      { type: 'tool.completed', toolId: expect.stringMatching(/2$/) },
    ])
  })

  it('belongs to the only open call', () => {
    const talk = working()
    talk.emit('action', { tool: 'Bash', args: { command: 'make' } })
    talk.emit('diff', diff)
    talk.emit('toolResult', { tool: 'Bash', success: true, output: '' })
    expect(talk.of('file.changed')).toMatchObject([{ toolId: expect.stringMatching(/1$/) }])
  })

  it('may name its file from another directory than the call did', () => {
    const talk = working()
    talk.emit('action', { tool: 'Bash', args: { command: 'make' } })
    talk.emit('action', { tool: 'Write', args: { files: [{ path: 'auth.ts' }] } })
    talk.emit('diff', { file: '/home/me/src/auth.ts', diff: '' })
    talk.emit('toolResult', { tool: 'Write', success: true, output: '' })
    expect(talk.of('file.changed')).toMatchObject([{ toolId: expect.stringMatching(/2$/) }])
  })

  it('that several calls could have made belongs to the turn', () => {
    const talk = working()
    talk.emit('action', { tool: 'Bash', args: { command: 'make' } })
    talk.emit('action', { tool: 'Bash', args: { command: 'make docs' } })
    talk.emit('diff', diff)
    expect(talk.of('file.changed')).toEqual([
      { type: 'file.changed', path: 'src/auth.ts', change: 'modified', diff: diff.diff },
    ])
  })

  it('of a call that failed did not happen, and is not lost', () => {
    const talk = working()
    talk.emit('action', edit)
    talk.emit('diff', diff)
    talk.emit('toolResult', { ...updated, success: false })
    talk.close('done')
    expect(talk.of('file.changed')).toEqual([])
    expect(talk.of('notice.raised')).toMatchObject([
      { code: 'agent_warning', data: { path: 'src/auth.ts', diff: diff.diff } },
    ])
  })

  it('of a call that never ended is not claimed either', () => {
    const talk = working()
    talk.emit('action', edit)
    talk.emit('diff', diff)
    talk.close('done')
    expect(talk.events.slice(-3)).toMatchObject([
      { type: 'notice.raised', data: { path: 'src/auth.ts' } },
      { type: 'tool.completed', status: 'unknown', settled: true },
      { type: 'turn.completed', outcome: 'completed' },
    ])
  })

  it('may have an explicit kind of change', () => {
    const talk = working()
    talk.emit('diff', { file: 'b.ts', diff: '', change: 'renamed', from: 'a.ts' })
    talk.emit('diff', { file: 'c.ts', diff: '+1', change: 'something else' })
    expect(talk.of('file.changed')).toEqual([
      { type: 'file.changed', path: 'b.ts', change: 'renamed', from: 'a.ts' },
      { type: 'file.changed', path: 'c.ts', change: 'modified', changeReported: false, diff: '+1' },
    ])
  })

  it.each([
    ['@@ -0,0 +1 @@\n+a', { change: 'created' }],
    ['@@ -1,2 +0,0 @@\n-a\n-b', { change: 'deleted' }],
    ['@@ -10,5 +10,8 @@\n-old line\n+new line', { change: 'modified' }],
    ['-old\n+new', { change: 'modified' }],
    ['', { change: 'modified', changeReported: false }],
  ])('has the kind that its lines show: %j', (diff, kind) => {
    const talk = working()
    talk.emit('diff', { file: 'a.ts', diff })
    expect(talk.of('file.changed')).toEqual([
      { type: 'file.changed', path: 'a.ts', ...kind, ...(diff !== '' && { diff }) },
    ])
  })
})
