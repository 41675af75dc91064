import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { describe, expect, it } from 'vitest'
import { importsOf, source } from '../architecture/source.ts'

/** What an entry loads, all the way down: files of ours, and packages by name. Types load nothing. */
function loadedBy(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (path: string) => {
    if (files.has(path)) return
    files.add(path)
    for (const { target, relative, typeOnly } of importsOf(source(path, readFileSync(path, 'utf8')))) {
      if (typeOnly) continue
      if (relative) visit(target)
      else packages.add(target)
    }
  }
  visit(entry)
  return { files, packages }
}

/** What packages load in their turn; zod is known to run in browsers and loads nothing. */
const nodeIn = (name: string) =>
  globSync(join(dirname(import.meta.dirname), '..', 'node_modules', name, 'dist/**/*.js')).filter((path) =>
    /from ['"]node:|require\(['"]node:/.test(readFileSync(path, 'utf8')),
  )

describe('in a browser', () => {
  it('the client loads one package, and nothing of Node, agents or schemas', () => {
    const { files, packages } = loadedBy('src/client/index.ts')
    expect([...packages]).toEqual(['eventsource-parser'])
    expect(nodeIn('eventsource-parser')).toEqual([])
    const others = [...files].filter(
      (path) => !/^src\/client\/((calls|errors|timeline|transports)\/)?[^/]+$/.test(path),
    )
    expect(others.sort()).toEqual([
      'src/model/events/hand-over-text.ts',
      'src/model/outcome/is-failed.ts',
      'src/model/outcome/mainstem-error.ts',
      'src/model/request/for-person.ts',
      'src/model/request/offered-scopes.ts',
      'src/model/session/context-after.ts',
    ])
    expect(files.size).toBeGreaterThan(10)
  })

  it('the adapters load nothing of Node', () => {
    const { files, packages } = loadedBy('src/client/adapters/index.ts')
    expect([...packages]).toEqual(['zod'])
    expect(files).toContain('src/agents/codex/exec/codec.ts')
  })

  // esbuild keeps every locale (65 kB compressed) of `import { z }`; Rolldown drops them in both forms.
  it('the adapters import zod as a namespace, so that a bundle has one of its 64 locales', () => {
    const { files } = loadedBy('src/client/adapters/index.ts')
    const named = [...files].filter((path) => /^import \{ z \} from 'zod'$/m.test(readFileSync(path, 'utf8')))
    expect(named).toEqual([])
  })

  it('the adapters are at most 140 kB compressed', async () => {
    const lib = { entry: 'src/client/adapters/index.ts', formats: ['es' as const] }
    const built = await build({ configFile: false, logLevel: 'silent', build: { write: false, lib } })
    const chunks = [built].flat().flatMap((bundle) => ('output' in bundle ? bundle.output : []))
    const [chunk] = chunks.filter((one) => one.type === 'chunk')
    const used = Object.entries(chunk?.modules ?? {}).filter(([, { renderedLength }]) => renderedLength > 0)
    const locales = used.map(([path]) => path).filter((path) => path.includes('/zod/v4/locales/'))
    expect(locales.map((path) => path.split('/').at(-1))).toEqual(['en.js'])
    expect(gzipSync(chunk?.code ?? '').byteLength).toBeLessThan(140_000)
  })

  it('the scan would see it: the transport over standard input does', () => {
    expect([...loadedBy('src/client/stdio/index.ts').packages]).toContain('node:child_process')
  })

  it('no file of the client names a global of Node', () => {
    for (const path of globSync('src/client/{*,adapters/*}.ts'))
      expect(readFileSync(path, 'utf8'), path).not.toMatch(/\b(?:process\.|Buffer\b|setImmediate|__dirname)/)
  })
})
