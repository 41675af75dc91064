import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Rolldown } from 'vite'
import { beforeAll, expect, test } from 'vitest'
import { readPageFiles } from '../../src/gateway/web/page-files.ts'
import { startGateway } from '../../test/gateway/start.ts'
import { buildPage, pageFolder } from './built-page.ts'

const folder = pageFolder()
beforeAll(() => buildPage(folder))

const notices = () => {
  const [name = ''] = globSync('assets/licenses-*.txt', { cwd: folder })
  return { name, text: readFileSync(join(folder, name), 'utf8') }
}

/** The packages that the source maps of another build name. */
async function packagesInside(): Promise<Set<string>> {
  const configFile = resolve(import.meta.dirname, '../vite.config.ts')
  const built = await build({ configFile, logLevel: 'error', build: { write: false, sourcemap: true } })
  const outputs = (Array.isArray(built) ? built : [built]) as Rolldown.RolldownOutput[]
  const sources = outputs.flatMap(({ output }) =>
    output.flatMap((one) => (one.type === 'chunk' ? (one.map?.sources ?? []) : [])),
  )
  return new Set(sources.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
}

test('the licence of every package in the page is beside it', { timeout: 120_000 }, async () => {
  const { text } = notices()
  const inside = await packagesInside()
  expect(inside.size).toBeGreaterThan(5)
  for (const name of [...inside, 'tailwindcss', '@fontsource-variable/inter'])
    expect(text, name).toMatch(new RegExp(`^${name} \\d[\\w.-]* \\(`, 'm'))
  expect(text).toContain('SIL OPEN FONT LICENSE')
  expect(text.match(/permission notice shall be/gi)?.length).toBeGreaterThan(5)
})

test('the server sends it with the page, and the document names it', async () => {
  const { name, text } = notices()
  const page = await readPageFiles(folder)
  await using server = await startGateway({ page })
  expect(await (await fetch(server.url)).text()).toContain(`<link rel="license" href="./${name}"`)
  const response = await fetch(`${server.url}/${name}`)
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await response.text()).toBe(text)
})
