import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { Home, MAIN } from '../mainstem-process.ts'
import { ENTER, PseudoTerminal } from './pseudo-terminal.ts'

const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())

const hasZsh = isInstalled('zsh')

describe('completion in a shell', () => {
  test.each(['bash', ...(hasZsh ? ['zsh'] : [])])(
    '%s completes a command with the Tab key',
    async (shell) => {
      const script = join(home.path, `completion.${shell}`)
      writeFileSync(script, (await home.mainstem(['completion', shell])).out)
      const start = shell === 'bash' ? 'exec bash --norc --noprofile -i' : 'exec zsh -f -i'
      await using shown = new PseudoTerminal(start, { cwd: home.path, env: { ...home.env, PS1: 'ready> ' } })
      const setup = shell === 'zsh' ? 'autoload -U compinit && compinit -u; ' : ''
      shown.press(
        `${setup}mainstem() { ${process.execPath} ${MAIN} "$@"; }; source ${script}; echo loaded-$((1+1))${ENTER}`,
      )
      await shown.shows('loaded-2')
      shown.press('mainstem compar\t')
      await shown.shows(/mainstem compare $|mainstem compare\s*$/)
      shown.press(`--workt\t`)
      await shown.shows('mainstem compare --worktree')
    },
  )
})

function isInstalled(program: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}
