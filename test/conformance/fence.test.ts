import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { cleanEnvironment, raiseFence } from '../../conformance/fence.ts'

const run = promisify(execFile)

it('a command behind the fence works where we are, and reaches the folder that was kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fence-'))
  try {
    const { prefix, words } = await raiseFence([folder])
    const [program = '', ...args] = [...prefix, 'sh', '-c', `pwd; echo kept > ${folder}/file`]
    const { stdout } = await run(program, args, { env: cleanEnvironment(folder) })
    expect(stdout.trim()).toBe(process.cwd())
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('kept\n')
    expect(words).toMatch(/network|connections/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

it('a program gets a path, a language and a home, and nothing else of ours', () => {
  const { PATH, ...rest } = cleanEnvironment('/somewhere')
  expect(rest).toEqual({ HOME: '/somewhere', LANG: 'C.UTF-8', TMPDIR: '/somewhere' })
  expect(PATH).toContain('/usr/bin')
})
