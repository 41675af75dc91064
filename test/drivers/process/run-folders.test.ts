import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { abandonedFolders, makeRunFolder } from '../../../src/drivers/process/run-folders.ts'
import { processTable } from '../../../src/drivers/tree/process-table.ts'
import { sweep } from '../../../src/drivers/tree/sweep.ts'
import { isAlive } from '../fake-run.ts'

const table = processTable(process.platform)
const MODULES = join(import.meta.dirname, '../../../src/drivers')

let home = ''
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'folders-')))
  vi.stubEnv('TMPDIR', home)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

/** The folder of a process that has ended. */
function ownerless(): string {
  const script = `
    import { processTable } from ${JSON.stringify(join(MODULES, 'tree/process-table.ts'))}
    import { makeRunFolder } from ${JSON.stringify(join(MODULES, 'process/run-folders.ts'))}
    process.stdout.write(makeRunFolder(processTable(process.platform)))`
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
}

test('a folder is abandoned when the process that made it is gone', () => {
  makeRunFolder(table)
  const abandoned = ownerless()
  expect(abandonedFolders(table)).toEqual([abandoned])
})

test('folders of another host or PID namespace, links and other names are never abandoned', () => {
  const abandoned = ownerless()
  const [, place = ''] = /mainstem-(.{4})/.exec(abandoned) ?? []
  const elsewhere = abandoned.replace(`mainstem-${place}`, `mainstem-${place === '0000' ? '0001' : '0000'}`)
  mkdirSync(elsewhere)
  mkdirSync(join(home, 'mainstem-AbCdEf'))
  symlinkSync('/', abandoned.replace(/.{6}$/, 'linked'))
  rmSync(abandoned, { recursive: true })
  expect(abandonedFolders(table)).toEqual([])
})

test('a sweep ends the processes that use an abandoned folder, then removes it', async () => {
  const abandoned = ownerless()
  const probe = spawn('sleep', ['600'], { detached: true, env: { ...process.env, TMPDIR: abandoned } })
  const other = spawn('sleep', ['600'])
  try {
    const exited = once(probe, 'exit')
    expect(await sweep([], { folders: abandonedFolders(table) })).toEqual([])
    expect(await exited).toEqual([null, 'SIGTERM'])
    expect(existsSync(abandoned)).toBe(false)
    expect(isAlive(other.pid)).toBe(true)
  } finally {
    other.kill()
    probe.kill('SIGKILL')
  }
})
