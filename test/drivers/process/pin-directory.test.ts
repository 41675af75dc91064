import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { driver } from '../../../src/drivers/index.ts'
import { pinDirectory } from '../../../src/drivers/process/pin-directory.ts'
import { NO_VALUES } from '../../../src/model/text/large-value.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pin-')))
  for (const name of ['work', 'outside']) mkdirSync(join(root, name))
  writeFileSync(join(root, 'work', 'name'), 'inside')
})
afterEach(() => rmSync(root, { recursive: true }))

const work = () => join(root, 'work')

async function outputOf(argv: [string, ...string[]], cwd: string) {
  const launch = { kind: 'process', argv, env: {}, passEnv: [] } as const
  const context = { runId: `pin-${root}`, cwd, isRealCwd: true, env: {}, values: NO_VALUES }
  const run = driver().start(launch, context)
  const lines: string[] = []
  for await (const batch of run.frames) lines.push(...batch.map(({ text }) => text))
  return { lines, exit: await run.exit }
}

test('a child starts in the directory, and sees its real path', async () => {
  const { lines } = await outputOf([process.execPath, '-e', 'console.log(process.cwd())'], work())
  expect(lines).toEqual([work()])
})

test('a directory that was replaced by a link starts no child', async () => {
  renameSync(work(), join(root, 'moved'))
  symlinkSync(join(root, 'outside'), work())
  const { lines, exit } = await outputOf([process.execPath, '-e', 'console.log(process.cwd())'], work())
  expect(lines).toEqual([])
  expect(exit.error).toMatchObject({ code: 'forbidden' })
})

test.runIf(process.platform === 'linux')('replacing the path after the check has no effect', () => {
  using place = pinDirectory(work())
  renameSync(work(), join(root, 'moved'))
  symlinkSync(join(root, 'outside'), work())
  expect(realpathSync(place.path)).toBe(join(root, 'moved'))
})
