import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const { prepare } = JSON.parse(readFileSync('package.json', 'utf8')).scripts

const folder = mkdtempSync(join(tmpdir(), 'prepare-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs `prepare` as npm does, with an npm that writes its arguments to a file. */
function builds(name: string, { command, built }: { command: string; built: boolean }): boolean {
  const checkout = join(folder, name)
  mkdirSync(join(checkout, 'dist/cli'), { recursive: true })
  if (built) writeFileSync(join(checkout, 'dist/cli/main.js'), '', { mode: 0o755 })
  const npm = join(folder, 'npm')
  writeFileSync(npm, '#!/bin/sh\necho "$@" >built\n')
  chmodSync(npm, 0o755)
  const PATH = `${folder}${delimiter}${process.env.PATH}`
  execFileSync('sh', ['-c', prepare], { cwd: checkout, env: { PATH, npm_command: command } })
  const log = join(checkout, 'built')
  return existsSync(log) && readFileSync(log, 'utf8') === 'run build\n'
}

describe('the checkout is built', () => {
  it('by npm ci, also if a build exists', () => {
    expect(builds('ci', { command: 'ci', built: true })).toBe(true)
  })

  it('not again by the first npx mainstem', () => {
    expect(builds('npx', { command: 'exec', built: true })).toBe(false)
  })

  it('by npx mainstem if there is no build', () => {
    expect(builds('npx-unbuilt', { command: 'exec', built: false })).toBe(true)
  })
})
