import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type OfflineProgram, offlineEnvironment, writeOfflineFiles } from '../../src/testing/index.ts'

const MODEL = { url: 'http://127.0.0.1:4711' }
const HOME = '/somewhere/home'
const PROGRAMS: readonly OfflineProgram[] = ['claude', 'codex', 'gemini', 'opencode']

/** Everything a recipe says, as one text. */
const said = (program: OfflineProgram) => JSON.stringify(offlineEnvironment(program, MODEL, HOME))

describe.each(PROGRAMS)('the recipe for %s', (program) => {
  const { env, files } = offlineEnvironment(program, MODEL, HOME)

  it('names the scripted model, and no other address', () => {
    expect(said(program)).toContain(MODEL.url)
    const addresses = [...said(program).matchAll(/https?:\/\/[^/"\\]+/g)].map(([address]) => address)
    expect(new Set(addresses)).toEqual(new Set([MODEL.url]))
  })

  it('has a key that is good for nothing else', () => {
    expect(said(program)).toContain('scripted-model-key')
  })

  it('lives in the home it is given', () => {
    expect(env).toMatchObject({ HOME, TMPDIR: join(HOME, 'tmp') })
    for (const path of Object.keys(files)) expect(path.startsWith(`${HOME}/`)).toBe(true)
  })

  it('leaves the path to the caller, and takes nothing from this process', () => {
    expect(Object.keys(env)).not.toContain('PATH')
    for (const value of Object.values(env)) expect(value).not.toBe(process.env.HOME)
  })

  it('writes its files for their owner only', async () => {
    const home = await mkdtemp(join(tmpdir(), 'offline-'))
    try {
      const environment = offlineEnvironment(program, MODEL, home)
      await writeOfflineFiles(environment)
      await writeOfflineFiles(environment)
      for (const [path, text] of Object.entries(environment.files)) {
        expect(await readFile(path, 'utf8')).toBe(text)
        expect((await stat(path)).mode & 0o777).toBe(0o600)
      }
      expect((await stat(environment.env.TMPDIR ?? '')).isDirectory()).toBe(true)
    } finally {
      await rm(home, { recursive: true })
    }
  })
})

describe('settings that are JSON', () => {
  it.each([
    ['gemini', '.gemini/settings.json', { privacy: { usageStatisticsEnabled: false } }],
    ['opencode', '.config/opencode/opencode.json', { autoupdate: false, enabled_providers: ['scripted'] }],
  ] as const)('of %s can be read', (program, path, expected) => {
    const text = offlineEnvironment(program, MODEL, HOME).files[join(HOME, path)]
    expect(JSON.parse(text ?? '')).toMatchObject(expected)
  })
})
