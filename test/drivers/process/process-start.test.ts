import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import type { ProcessLaunch } from '../../../src/agents/agent.ts'
import { filePath } from '../../../src/agents/kit/option.ts'
import { type ProcessDriverOptions, processDriver } from '../../../src/drivers/process.ts'
import { contextOf, expectNothingLeft, fakeAgent, QUICK, readAll } from '../fake-run.ts'

afterEach(expectNothingLeft)
afterEach(() => vi.unstubAllEnvs())

const folder = mkdtempSync(join(tmpdir(), 'drivers-'))
afterAll(() => rmSync(folder, { recursive: true }))

const launchOf = (...argv: [string, ...string[]]): ProcessLaunch => ({
  kind: 'process',
  argv,
  env: {},
  passEnv: [],
})

/** The error of a run that never starts, and proof that it says nothing. */
async function failureOf(launch: ProcessLaunch, cwd = folder, options: ProcessDriverOptions = {}) {
  const run = processDriver({ graces: QUICK, ...options }).start(launch, contextOf({ cwd }))
  expect(await readAll(run)).toEqual([])
  await run.write({ kind: 'text', text: 'hello' })
  await run.stop()
  return (await run.exit).error
}

const file = (name: string, text: string, mode: number) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('a program that cannot be started', () => {
  it('is not found, and the message contains the fix', async () => {
    const error = await failureOf(launchOf('no-such-agent'))
    expect(error?.code).toBe('agent_not_found')
    expect(error?.message).toBe('no-such-agent is not in PATH')
    expect(error?.advice).toMatch(/^Install the agent/)
  })

  it.each([
    ['missing', () => join(folder, 'missing'), /there is no program .*missing/],
    ['a directory', () => folder, /there is no program/],
    ['a relative path', () => './plain', /neither an absolute path nor the name/],
    ['an empty name', () => '', /neither an absolute path nor the name/],
  ])('because it is %s is not found', async (_name, path, message) => {
    const error = await failureOf(launchOf(path()))
    expect(error?.code).toBe('agent_not_found')
    expect(error?.message).toMatch(message)
  })

  it.each([
    [
      'not executable',
      'plain',
      '#!/bin/sh\n',
      0o644,
      /plain is not executable$/,
      /^Make it executable: chmod/,
    ],
    [
      'without its interpreter',
      'lost',
      '#!/no/such/shell\n',
      0o755,
      /lost needs \/no\/such\/shell, which does not exist$/,
      /^Install \/no\/such\/shell/,
    ],
    [
      'without the interpreter that env looks for',
      'lost-env',
      '#! /usr/bin/env -S A=b no-such-node --flag\n',
      0o755,
      /lost-env needs no-such-node, which is not in PATH$/,
      /^Install no-such-node, or start the server with a PATH that contains it\. .*mainstem daemon stop/,
    ],
  ])('because it is %s is not ready', async (_, name, text, mode, message, advice) => {
    const error = await failureOf(launchOf(file(name, text, mode)))
    expect(error?.code).toBe('agent_not_ready')
    expect(error?.message).toMatch(message)
    expect(error?.advice).toMatch(advice)
  })

  it.each([
    ['#!/bin/sh\nexit 0\n'],
    ['#!/usr/bin/env sh\nexit 0\n'],
    ['#!/usr/bin/env -S A=b sh -e\nexit 0\n'],
    ['exit 0\n'],
  ])('a script that begins with %j is started', async (text) => {
    const launch = launchOf(file('script', text, 0o755))
    const run = processDriver({ graces: QUICK }).start(launch, contextOf({ cwd: folder }))
    await readAll(run)
    expect(await run.exit).toEqual({ code: 0 })
  })

  it.each([
    ['an argument that is too long', 'x'.repeat(200_000), /E2BIG/],
    ['an argument with a NUL', 'a\0b', /null bytes/],
  ])('because of %s is an invalid request', async (_name, argument, message) => {
    const error = await failureOf(launchOf(process.execPath, argument))
    expect(error?.code).toBe('invalid_request')
    expect(error?.message).toMatch(message)
  })

  it.each([
    ['missing', () => join(folder, 'nowhere'), /cwd .*nowhere cannot be used: ENOENT/],
    ['a file', () => file('file', '', 0o644), /cwd .*file is not a directory/],
    ['a path with a NUL', () => 'a\0b', /cwd .* cannot be used/],
  ])('because its directory is %s is not blamed itself', async (_name, cwd, message) => {
    const error = await failureOf(fakeAgent('dump'), cwd())
    expect(error?.code).toBe('invalid_request')
    expect(error?.message).toMatch(message)
    expect(error?.message).not.toContain(process.execPath)
  })

  it('is refused on Windows', async () => {
    const error = await failureOf(fakeAgent('dump'), folder, { platform: 'win32' })
    expect(error).toEqual({
      code: 'unsupported_option',
      message: 'Agents cannot be started on Windows yet; use WSL.',
    })
  })
})

describe('a program', () => {
  it('is resolved in the PATH of its own process only', async () => {
    const bin = mkdtempSync(join(folder, 'bin-'))
    symlinkSync(process.execPath, join(bin, 'my-agent'))
    const [, ...args] = fakeAgent('dump').argv
    const context = contextOf({ env: { PATH: `relative:${dirname(bin)}:${bin}` } })
    const run = processDriver({ graces: QUICK }).start(launchOf('my-agent', ...args), context)
    expect(await readAll(run)).toHaveLength(2)
    expect(await run.exit).toEqual({ code: 0 })
    expect((await failureOf(launchOf('my-agent', ...args)))?.code).toBe('agent_not_found')
  })

  it('is not resolved in a relative entry of PATH', async () => {
    expect(existsSync('node_modules/.bin/vitest')).toBe(true)
    const error = await failureOf({ ...launchOf('vitest'), env: { PATH: 'node_modules/.bin:.:' } })
    expect(error?.message).toMatch(/^vitest is not in PATH/)
  })

  it('gets its arguments as they are, without a shell', async () => {
    const odd = ['--x=y', 'a b', '$HOME', '`id`', '; exit 9', '', '\n', '"']
    const [program, script] = fakeAgent('dump').argv
    const launch = launchOf(program, script ?? '', 'dump', ...odd)
    const run = processDriver({ graces: QUICK }).start(launch, contextOf({ cwd: folder }))
    const [frame] = await readAll(run)
    expect(frame?.value).toMatchObject({ argv: ['dump', ...odd], cwd: folder, pid: run.pid })
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('finds its files at the paths in the launch, private and removed at the end', async () => {
    const script = 'stat -c %a "$1"; cat "$1" "$SECOND"; echo "$1"'
    const run = processDriver({ graces: QUICK }).start(
      {
        ...launchOf('sh', '-c', script, 'sh', filePath('first.json')),
        env: { SECOND: filePath('second.md') },
        files: [
          { name: 'first.json', text: '"one"\n' },
          { name: 'second.md', text: '"two"\n' },
        ],
      },
      contextOf({ cwd: folder }),
    )
    const lines = (await readAll(run)).map(({ text }) => text)
    expect(lines.slice(0, 3)).toEqual(['600', '"one"', '"two"'])
    await run.exit
    expect(existsSync(lines[3] ?? '')).toBe(false)
    expect(lines[3]).toMatch(/\/first\.json$/)
  })

  it('finds its files at the paths in JSON, also in a folder whose name JSON escapes', async () => {
    const odd = join(folder, 'a "b"')
    mkdirSync(odd)
    vi.stubEnv('TMPDIR', odd)
    const launch = { ...launchOf('sh', '-c', 'echo "$SETTINGS"'), env: { SETTINGS: '' } }
    launch.env.SETTINGS = JSON.stringify({ plugin: [filePath('one.mjs')] })
    const run = processDriver({ graces: QUICK }).start(
      { ...launch, files: [{ name: 'one.mjs', text: 'x' }] },
      contextOf({ cwd: folder }),
    )
    const [frame] = await readAll(run)
    const { plugin } = Object(frame?.value)
    expect(plugin[0].startsWith(odd)).toBe(true)
    expect(plugin[0]).toMatch(/\/one\.mjs$/)
    await run.exit
  })

  it('finds a picture as the bytes it is made of, gone after the end', async () => {
    const bytes = [0x89, 0x50, 0x00, 0x0a, 0xff]
    const text = Buffer.from(bytes).toString('base64')
    const run = processDriver({ graces: QUICK }).start(
      {
        ...launchOf('sh', '-c', 'stat -c %a "$1"; od -An -tu1 "$1"; echo "$1"', 'sh', filePath('a.png')),
        files: [{ name: 'a.png', text, encoding: 'base64' }],
      },
      contextOf({ cwd: folder }),
    )
    const [mode, seen, path = ''] = (await readAll(run)).map(({ text: said }) => said)
    expect([mode, seen?.trim().split(/\s+/).map(Number)]).toEqual(['600', bytes])
    await run.exit
    expect(existsSync(path)).toBe(false)
  })

  it.each(['a b', 'a,b', 'a;b', "a'b", 'a[b]'])(
    'rejects an image in a folder named "%s", which a program would split',
    async (name) => {
      const odd = join(folder, name)
      mkdirSync(odd)
      vi.stubEnv('TMPDIR', odd)
      const text = { name: 'a.txt', text: 'AAAA' }
      const launch = { ...launchOf('true', filePath('a.txt')), files: [text] }
      const picture = { ...launch, files: [{ ...text, encoding: 'base64' as const }] }
      expect(await failureOf(launch)).toBeUndefined()
      expect(await failureOf(picture)).toMatchObject({ code: 'unsupported_option' })
      expect(readdirSync(odd)).toEqual([])
    },
  )

  it('has a private temporary directory, removed at the end', async () => {
    const runs = [1, 2].map(() => processDriver({ graces: QUICK }).start(fakeAgent('dump'), contextOf()))
    const said = await Promise.all(runs.map(readAll))
    const directories = said.map(([dump]) => {
      const { value } = dump ?? {}
      return typeof value === 'object' && value !== null && 'env' in value
        ? Reflect.get(Object(value.env), 'TMPDIR')
        : ''
    })
    expect(new Set(directories).size).toBe(2)
    for (const frames of said) expect(frames[1]?.value).toEqual({ temporary: true })
    await Promise.all(runs.map((run) => run.exit))
    expect(directories.map((directory) => existsSync(directory))).toEqual([false, false])
  })
})
