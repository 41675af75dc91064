import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { completion } from '../../src/cli/completion.ts'
import { blocksOf, toHtml, toMarkdown } from '../../src/cli/export-document.ts'
import { commandLine } from '../../src/cli/program.ts'
import { pauseMs } from '../../src/cli/replay-action.ts'
import type { Event } from '../../src/model/index.ts'

const program = await commandLine()

describe('completion', () => {
  test.each([
    [['mainstem', 're'], 'replay requests'],
    [['mainstem', 'run', '--deta'], '--detach'],
    [['mainstem', 'requests', 'al'], 'allow'],
  ])('in bash, %j is completed to %s', async (words, expected) => {
    const script = `${completion('bash', program)}
      COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _mainstem; echo "\${COMPREPLY[@]}"`
    const { stdout } = await promisify(execFile)('bash', ['-c', script])
    expect(stdout.trim().split(' ').sort().join(' ')).toBe(expected)
  })

  test('in zsh and fish knows the same commands', () => {
    expect(completion('zsh', program)).toMatch(/^#compdef mainstem\n[\s\S]*complete -o default -F _mainstem/)
    expect(completion('fish', program)).toContain("-a attach -d 'show a session")
  })
})

describe('an exported document', () => {
  const events: Event[] = [
    { type: 'turn.started', turn: 1, origin: 'prompt', prompt: 'look\nhere' },
    { type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute', title: 'cat x' },
    {
      type: 'tool.completed',
      toolId: 't',
      name: 'Bash',
      kind: 'execute',
      status: 'success',
      exitCode: 0,
      output: '```\n<b>',
    },
    { type: 'turn.completed', turn: 1, outcome: 'completed', durationMs: 1, denials: 0 },
  ]
  const blocks = blocksOf()
  for (const event of events) blocks.take({ session: '', seq: 1, at: 0, event })

  test('in Markdown cannot be left by the output of a tool', () => {
    expect(toMarkdown({ title: 'A\nB', blocks: blocks.list })).toBe(
      '# A B\n\n## Prompt\n\n> look\n> here\n\n**Bash cat x (exit 0)**\n\n````\n```\n<b>\n````\n\n*completed*\n',
    )
  })

  test('in HTML has no markup of an agent', () => {
    const html = toHtml({ title: '<x>', blocks: blocks.list })
    expect(html).toContain('&lt;b&gt;')
    expect(html).not.toContain('<b>')
    expect(html).not.toContain('<x>')
  })
})

test('a replay has the pauses of the session, divided by its speed, and none that is long', () => {
  expect([pauseMs(undefined, 9, 1), pauseMs(0, 500, 2), pauseMs(0, 1e9, 1)]).toEqual([0, 250, 3_000])
})
