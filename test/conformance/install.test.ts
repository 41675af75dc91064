import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { cacheFolder, install } from '../../conformance/install.ts'
import type { Program } from '../../conformance/programs.ts'

const PROGRAM: Program = {
  id: 'tool',
  agent: 'echo',
  package: 'tool',
  version: '1.2.3',
  bin: 'tool',
  offline: 'claude',
  launches: ['live'],
  inCi: false,
}

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'install-'))
})
afterAll(() => rm(root, { recursive: true }))
afterEach(() => {
  vi.unstubAllEnvs()
})

/** An npm of our own that installs this version, of a program that ends like this. */
async function npmInstalling(version: string, exitCode: number): Promise<string> {
  const folder = await mkdtemp(join(root, 'npm-'))
  const script = [
    '#!/bin/sh',
    'prefix="$3"',
    // Two of them in one folder break each other.
    'mkdir "$prefix/busy" || exit 1',
    'mkdir -p "$prefix/node_modules/.bin" "$prefix/node_modules/tool"',
    `echo '{"version":"${version}"}' > "$prefix/node_modules/tool/package.json"`,
    `printf '#!/bin/sh\\nexit ${exitCode}\\n' > "$prefix/node_modules/.bin/tool"`,
    'chmod +x "$prefix/node_modules/.bin/tool"',
    '',
  ].join('\n')
  await writeFile(join(folder, 'npm'), script)
  await chmod(join(folder, 'npm'), 0o755)
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
  return mkdtemp(join(root, 'cache-'))
}

describe('a program', () => {
  it('is installed once, and found the next time', async () => {
    const cache = await npmInstalling('1.2.3', 0)
    const installed = await install(PROGRAM, cache)
    expect(installed).toEqual({ command: join(cache, 'tool@1.2.3/node_modules/.bin/tool') })
    vi.stubEnv('PATH', '/nowhere')
    expect(await install(PROGRAM, cache)).toEqual(installed)
  })

  it('is installed whole by two runs at the same time', async () => {
    const cache = await npmInstalling('1.2.3', 0)
    const both = await Promise.all([install(PROGRAM, cache), install(PROGRAM, cache)])
    const command = join(cache, 'tool@1.2.3/node_modules/.bin/tool')
    expect(both).toEqual([{ command }, { command }])
    expect(await readdir(cache)).toEqual(['tool@1.2.3'])
  })

  it('of another version than requested is reported', async () => {
    const cache = await npmInstalling('1.0.0', 0)
    expect(await install(PROGRAM, cache)).toEqual({ failed: 'npm installed 1.0.0 for 1.2.3' })
  })

  it('that does not run is reported, and retried the next time', async () => {
    const cache = await npmInstalling('1.2.3', 1)
    expect(await install(PROGRAM, cache)).toMatchObject({ failed: expect.stringMatching(/tool --version/) })
    expect(existsSync(join(cache, 'tool@1.2.3/proven.json'))).toBe(false)
  })

  it('that npm cannot install is reported', async () => {
    vi.stubEnv('PATH', '/nowhere')
    const cache = join(root, 'cache-of-nobody')
    await mkdir(cache)
    expect(await install(PROGRAM, cache)).toMatchObject({ failed: expect.stringMatching(/npm/) })
  })
})

it('programs are kept outside the repository, where the user keeps caches', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: '/caches' })).toBe('/caches/mainstem/conformance')
  expect(cacheFolder({})).toMatch(/\.cache\/mainstem\/conformance$/)
})
