import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as z from 'zod'
import { pageServer } from './page-server.ts'
import { blocksOf, inSources, pages } from './pages.ts'

const run = promisify(execFile)
const server = pageServer()

/** Below the root, so that the programs find the sources. */
mkdirSync('.cache', { recursive: true })
const programs = mkdtempSync('.cache/recipes-')
const home = realpathSync(mkdtempSync(join(tmpdir(), 'recipes-')))
const repository = join(home, 'shop')

beforeAll(() => {
  mkdirSync(repository)
  writeFileSync(join(repository, 'package.json'), JSON.stringify({ scripts: { test: 'true' } }))
  const git = (...args: string[]) =>
    execFileSync('git', [
      '-C',
      repository,
      '-c',
      'user.name=test',
      '-c',
      'user.email=test@localhost',
      ...args,
    ])
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
})
afterAll(() => {
  for (const path of [programs, home]) rmSync(path, { recursive: true })
})

/** The program below a heading of the recipes, with agents that need no key. */
function recipe(heading: string): string {
  const page = pages.find(({ path }) => path === 'docs/guides/recipes.md')
  const section = page?.text.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  const [program] = blocksOf({ path: heading, text: section }).filter(({ language }) => language === 'ts')
  return inSources(program?.text ?? '')
    .replaceAll(`'claude'`, `'demo'`)
    .replaceAll(`'codex'`, `'echo'`)
}

async function runRecipe(heading: string, text = recipe(heading), env: NodeJS.ProcessEnv = {}) {
  const file = resolve(programs, `${heading.replaceAll(/\W+/g, '-')}.ts`)
  writeFileSync(file, text)
  const fast = resolve('test/docs/fast.mjs')
  return run(process.execPath, ['--import', fast, file], {
    cwd: repository,
    env: { PATH: process.env.PATH, HOME: home, ...env },
  })
}

it('the review prints the answer of the agent, its outcome and its cost', async () => {
  const { stdout, stderr } = await runRecipe('Review a pull request')
  expect(stdout).not.toBe('\n')
  expect(stderr).toMatch(/^completed, \$0\.\d\d\n$/m)
})

it('the night leaves a branch for each task, and ends each with an outcome', async () => {
  const { stdout } = await runRecipe('Fix tests at night')
  expect(stdout).toMatch(/^completed Fix the flaky test.*\ncompleted Remove the deprecated options.*\n$/)
  const branches = execFileSync('git', ['-C', repository, 'branch', '--list', 'night-*'], {
    encoding: 'utf8',
  })
  expect(branches.match(/night-\d/g)).toEqual(['night-0', 'night-1'])
})

it('the benchmark has a row for each agent, judged by the tests', async () => {
  // The built-in agents have no sandbox.
  const text = recipe('Compare agents').replace(`, sandbox: 'workspace-write'`, '')
  const { stdout } = await runRecipe('Compare agents', text)
  expect(stdout).toMatch(/'demo' +│ 'completed' +│ 'pass'/)
  expect(stdout).toMatch(/'echo' +│ 'completed' +│ 'pass'/)
})

it('the routes for Next.js begin a session and stream its log, and continue it after an entry', async () => {
  const file = resolve(programs, 'next.ts')
  writeFileSync(file, recipe('Embed in Next.js').replaceAll(`'demo'`, `'echo'`))
  process.env.MAINSTEM_URL = server.url
  const routes: Record<'GET' | 'POST', (request: Request) => Promise<Response>> = await import(file)
  const begun = await routes.POST(new Request('http://app/api/sessions', { method: 'POST', body: 'hello' }))
  const { id } = z.object({ id: z.string() }).parse(await begun.json())
  const read = async (after: string) => {
    const stop = new AbortController()
    const headers = { 'last-event-id': after }
    const request = new Request(`http://app/api/sessions/${id}/events`, { headers, signal: stop.signal })
    const { body } = await routes.GET(request)
    let text = ''
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part
      if (text.includes('turn.completed')) break
    }
    stop.abort()
    return text
  }
  expect(await read('0')).toMatch(/^id: 1\ndata: \{[^\n]*"session\.started"/)
  expect(await read('1')).toMatch(/^id: 2\n/)
})
