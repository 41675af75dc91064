import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { candidatesOf } from '../../src/cli/compare/candidates.ts'
import { besideEachOther, columnWidth } from '../../src/cli/compare/columns.ts'
import { branchesFor, changedFiles, repositoryOf, worktreeOf } from '../../src/cli/compare/worktrees.ts'
import { Home } from './mainstem-process.ts'

const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())

const PATIENT = { timeout: 60_000 }

/** A repository with one commit, and a file that is not in it. */
function repository(name: string): string {
  const path = join(home.path, name)
  mkdirSync(join(path, 'inner'), { recursive: true })
  writeFileSync(join(path, 'inner', 'kept.txt'), 'committed\n')
  git(path, 'init', '-q')
  git(path, 'add', '.')
  git(path, 'commit', '-qm', 'first')
  return path
}

function git(path: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
  return execFileSync('git', ['-C', path, ...who, ...args], { encoding: 'utf8' })
}

describe('the agents to compare', () => {
  test('may have models, and are numbered where one comes twice', () => {
    expect(candidatesOf('claude, claude:opus:4,claude')).toEqual([
      { label: 'claude', agent: 'claude' },
      { label: 'claude:opus:4', agent: 'claude', model: 'opus:4' },
      { label: 'claude 2', agent: 'claude' },
    ])
  })

  test.each(['', 'claude', 'a,b,c,d,e,f,g,h,i'])(
    'are refused where there are too few or too many: "%s"',
    (list) => {
      expect(() => candidatesOf(list)).toThrow('compare takes 2 to 8 agents')
    },
  )
})

describe('columns', () => {
  test('are as wide as they can be, and none where they would be too narrow', () => {
    expect([columnWidth(2, 80), columnWidth(3, 80), columnWidth(4, 80)]).toEqual([38, 24, undefined])
  })

  test('keep their headings and the end of their lines, cut to the width, whatever is coloured', () => {
    const red = (text: string) => `\x1b[31m${text}\x1b[39m`
    const columns = [
      { heading: ['one'], lines: ['a', red('bcd'), red('too long for it')] },
      { heading: ['two'], lines: ['漢字'] },
    ]
    expect(besideEachOther(columns, 6, 3)).toEqual(['one    │ two', `${red('bcd')}    │ 漢字`, 'too l… │'])
  })
})

describe('worktrees', PATIENT, () => {
  test('name what an agent changed: committed, uncommitted and new files', async () => {
    const path = repository('project')
    writeFileSync(join(path, 'inner', 'kept.txt'), 'not committed\n')
    const found = await repositoryOf(join(path, 'inner'))
    expect(found.uncommitted).toBe(1)
    const [first = '', second = ''] = branchesFor(['echo', 'claude:opus'])
    expect([first, second]).toEqual([
      expect.stringMatching(/^compare-[0-9a-f]{6}\/echo$/),
      expect.stringMatching(/^compare-[0-9a-f]{6}\/claude-opus$/),
    ])
    const place = join(home.path, 'tree')
    git(path, 'worktree', 'add', '-q', '-b', first, place)
    const tree = await worktreeOf(join(place, 'inner'), first, found)
    expect(await changedFiles(tree)).toEqual([])
    writeFileSync(join(place, 'inner', 'new.txt'), 'new\n')
    writeFileSync(join(place, 'inner', 'kept.txt'), 'changed and committed\n')
    git(place, 'commit', '-qam', 'by the agent')
    expect(await changedFiles(tree)).toEqual(['inner/kept.txt', 'inner/new.txt'])
  })

  test('are refused outside of a repository, with the fix', async () => {
    mkdirSync(join(home.path, 'plain'))
    const { code, err } = await home.mainstem(['compare', 'echo,echo', 'hi', '--worktree', '-C', 'plain'])
    expect(err).toContain('--worktree: git rev-parse failed: fatal: not a git repository')
    expect(code).toBe(2)
  })
})

test('run works in a new worktree of the branch that it names', PATIENT, async () => {
  const path = repository('single')
  const run = (...more: string[]) =>
    home.mainstem(['run', 'echo', 'hi', '--worktree', 'fix', '-C', path, ...more])
  expect(await run()).toMatchObject({ code: 0, out: 'hi\n' })
  expect(git(path, 'worktree', 'list')).toMatch(/single-fix +[0-9a-f]+ \[fix\]/)
  const { code, err } = await run()
  expect(err).toMatch(/worktree: git worktree failed: .*already exists/)
  expect(code).toBe(2)
})

describe('compare without a terminal', PATIENT, () => {
  test('prints the transcripts one after another, and the answers with a table on standard output', async () => {
    const { code, out, err } = await home.mainstem(['compare', 'echo,echo', 'hello'])
    expect(out).toMatch(
      /^── echo ──\nhello\n\n── echo 2 ──\nhello\n\nAGENT +OUTCOME +TIME +TOKENS +COST +FILES +SESSION\necho +completed +\d+ ms +– +– +0 +\w{8}\necho 2 +completed/,
    )
    expect(err).toMatch(/── echo ──\n[\s\S]+✔ completed[\s\S]+── echo 2 ──\n[\s\S]+✔ completed/)
    expect(code).toBe(0)
  })

  test('keeps worktrees, names them, and prints one object for each agent with --json', async () => {
    const path = repository('compared')
    const { code, out, err } = await home.mainstem([
      'compare',
      'echo,echo',
      'hi',
      '--worktree',
      '--json',
      '-C',
      path,
    ])
    const results = out.trim().split('\n')
    expect(results.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ agent: 'echo', outcome: 'completed', answer: 'hi', files: [], usage: null }),
      expect.objectContaining({ agent: 'echo', outcome: 'completed' }),
    ])
    for (const line of results) expect(existsSync(join(JSON.parse(line).worktree, 'inner'))).toBe(true)
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  test('exits with the code of the first agent that did not complete', async () => {
    const { code, out } = await home.mainstem(['compare', 'echo,demo', 'go', '--timeout', '0.2'])
    expect(out).toMatch(/echo +completed[\s\S]+demo +timeout/)
    expect(code).toBe(3)
  })

  test('begins nothing, and leaves no worktree, where one of the agents is refused', async () => {
    const path = repository('refused')
    const { code } = await home.mainstem(['compare', 'echo,nobody', 'hi', '--worktree', '-C', path])
    expect(code).toBe(4)
    expect(git(path, 'worktree', 'list').trim().split('\n')).toHaveLength(1)
    expect(git(path, 'branch', '--list', 'compare-*')).toBe('')
    expect(readdirSync(home.path).filter((name) => name.startsWith('refused-'))).toEqual([])
    const { out } = await home.mainstem(['ls', '--json', '--all'])
    expect(out).not.toContain(path)
  })
})
