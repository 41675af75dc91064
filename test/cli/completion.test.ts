import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { pauseMs } from '../../src/cli/commands/replay-action.ts'
import { completion } from '../../src/cli/completion.ts'
import { commandLine } from '../../src/cli/program.ts'

const program = await commandLine()
const AGENTS = ['claude', 'codex']

describe('completion', () => {
  test.each([
    [['mainstem', 'rep'], 'replay'],
    [['mainstem', 'run', '--deta'], '--detach'],
    [['mainstem', 'requests', 'al'], 'allow'],
    [['mainstem', 'run', 'cl'], 'claude'],
    [['mainstem', 'run', '--approval', 'auto'], 'auto-all auto-edit'],
    [['mainstem', 'attach', 'fix'], 'fix-list fix-tests'],
    [['mainstem', 'attach', '--da'], '--data'],
  ])('in bash, %j is completed to %s', async (words, expected) => {
    const script = `mainstem() { echo last fix-tests fix-list; }
      ${completion('bash', program, AGENTS)}
      COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _mainstem; echo "\${COMPREPLY[@]}"`
    const { stdout } = await promisify(execFile)('bash', ['-c', script])
    expect(stdout.trim().split(' ').sort().join(' ')).toBe(expected)
  })

  test('in zsh and fish knows the same commands', () => {
    expect(completion('zsh', program, AGENTS)).toMatch(
      /^#compdef mainstem\n[\s\S]*complete -o default -F _mainstem/,
    )
    expect(completion('fish', program, AGENTS)).toContain("-a attach -d 'show a session")
    expect(completion('fish', program, AGENTS)).toContain(
      "-l approval -xa 'ask ask-dangerous auto-edit auto-all'",
    )
  })
})

test('a replay has the pauses of the session, divided by its speed, and none that is long', () => {
  expect([pauseMs(undefined, 9, 1), pauseMs(0, 500, 2), pauseMs(0, 1e9, 1)]).toEqual([0, 250, 3_000])
})
