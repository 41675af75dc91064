import { describe, expect, it } from 'vitest'
import {
  commandOf,
  describeCall,
  mcpName,
  relativePath,
  withRelativePaths,
} from '../../src/client/calls/describe-call.ts'
import { proposedChanges } from '../../src/client/calls/proposed-changes.ts'
import { requestText } from '../../src/client/calls/request-text.ts'

const call = (name: string, toolKind: 'execute' | 'read' | 'mcp' | 'other', input: unknown, title?: string) =>
  describeCall({ name, toolKind, title, input, draft: '' }, '/home/me/shop')

describe('a call in a line', () => {
  it('is its command, its path below the directory, or server and tool', () => {
    expect(call('Bash', 'execute', { command: 'npm test' })).toEqual({
      verb: 'Run',
      subject: 'npm test',
      form: 'command',
    })
    expect(call('Read', 'read', { file_path: '/home/me/shop/src/a.ts' })).toMatchObject({
      subject: 'src/a.ts',
      form: 'path',
    })
    expect(call('mcp__docs__search', 'mcp', { q: 'pages' })).toMatchObject({
      verb: 'docs › search',
      subject: 'pages',
    })
    expect(call('Weather', 'other', { city: 'Bern' })).toMatchObject({ verb: 'Weather', subject: 'Bern' })
  })

  it('quotes the arguments of a command that is a list', () => {
    expect(commandOf({ command: ['echo', "it's", 'a b'], workdir: '/tmp' })).toEqual({
      text: `echo 'it'\\''s' 'a b'`,
      directory: '/tmp',
      fields: ['command', 'workdir'],
    })
  })

  it('finds server and tool only in names of MCP tools', () => {
    expect(mcpName('mcp:docs/search')).toEqual({ server: 'docs', tool: 'search' })
    expect(mcpName('mcp__a__b__c')).toEqual({ server: 'a', tool: 'b__c' })
    expect(mcpName('mcp__broken')).toBeUndefined()
    expect(mcpName('search')).toBeUndefined()
  })
})

describe('a relative path', () => {
  it('is below the directory, and never hides that a path leaves it', () => {
    expect(relativePath('/a/b/c.ts', '/a/b/')).toBe('c.ts')
    expect(relativePath('/a/bc/c.ts', '/a/b')).toBe('/a/bc/c.ts')
    expect(relativePath('/a/b/../../etc/passwd', '/a/b')).toBe('/a/b/../../etc/passwd')
    expect(relativePath('/a/b', '/a/b')).toBe('/a/b')
  })

  it('replaces paths inside of a text', () => {
    expect(withRelativePaths('Edit /a/b/c.ts and "/a/b/d e"', '/a/b')).toBe('Edit c.ts and "d e"')
    expect(withRelativePaths('see /x/a/b/c.ts', '/a/b')).toBe('see /x/a/b/c.ts')
    expect(withRelativePaths('anything /', '/')).toBe('anything /')
  })
})

describe('the changes in an input', () => {
  it('are two texts, a new file, edits or diffs, with the fields that they show', () => {
    expect(proposedChanges({ file_path: 'a', old_string: 'x', new_string: 'y', replace_all: true })).toEqual({
      changes: [{ path: 'a', change: 'modified', before: 'x', after: 'y', diff: undefined }],
      fields: ['file_path', 'old_string', 'new_string'],
    })
    expect(proposedChanges({ path: 'a', from: '1', to: '2' })).toMatchObject({
      changes: [{ path: 'a', before: '1', after: '2' }],
      fields: ['path', 'from', 'to'],
    })
    expect(proposedChanges({ filePath: 'a', content: 'new' })).toMatchObject({
      changes: [{ path: 'a', change: 'created', after: 'new' }],
      fields: ['filePath', 'content'],
    })
    expect(proposedChanges({ path: 'a', edits: [{ oldText: '1', newText: '2' }] })).toMatchObject({
      changes: [{ path: 'a', before: '1', after: '2' }],
      fields: ['path', 'edits'],
    })
    expect(
      proposedChanges({ changes: [{ path: 'a', kind: { type: 'update', move_path: null }, diff: '@@' }] }),
    ).toMatchObject({ changes: [{ path: 'a', change: 'modified', diff: '@@' }], fields: ['changes'] })
  })

  it('leave out what a diff would not show completely', () => {
    const none = { changes: [], fields: [] }
    expect(proposedChanges({ path: 'a', edits: [{ oldText: '1', newText: '2', all: true }] })).toEqual(none)
    expect(
      proposedChanges({ changes: [{ path: 'a', kind: { type: 'update', move_path: 'b' }, diff: '' }] }),
    ).toEqual(none)
    expect(proposedChanges({ content: 'no path' })).toEqual(none)
    // Two paths, as a tool that moves a file names them.
    expect(proposedChanges({ from: 'a.ts', to: 'b.ts' })).toEqual(none)
    expect(proposedChanges('text')).toEqual(none)
  })
})

it('a request is named by its question, by the tool of its server, or by its title', () => {
  const asked = { kind: 'permission', title: 'Edit /work/a.ts', tool: 'Edit' } as const
  expect(requestText(asked, '/work')).toBe('Edit a.ts')
  expect(requestText({ ...asked, tool: 'mcp__postgres__query', title: 'query' }, '/work')).toBe(
    'postgres › query',
  )
  expect(requestText({ kind: 'permission', tool: 'Bash' }, '/work')).toBe('Bash')
  expect(requestText({ kind: 'plan' }, '/work')).toBe('plan')
  const questions = [
    { id: 'q', text: 'Which one?', options: [], multiple: false, other: true, secret: false },
  ]
  expect(requestText({ kind: 'question', title: 'AskUserQuestion', questions }, '/work')).toBe('Which one?')
})
