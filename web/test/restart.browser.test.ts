import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { faultsOf, theatre } from './page.ts'

const { open, folder } = theatre()
const home = realpathSync(mkdtempSync(join(tmpdir(), 'page-restart-')))
const children = new Set<ChildProcess>()
afterAll(async () => {
  // A test that fails in between leaves its server running.
  for (const child of children) await kill(child)
  rmSync(home, { recursive: true })
})

interface Running {
  child: ChildProcess
  url: string
  token: string
}

async function start(port: string): Promise<Running> {
  const script = join(import.meta.dirname, 'server-process.ts')
  const child = spawn(process.execPath, [script, home, port, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const [line] = await once(createInterface(child.stdout), 'line')
  const [url = '', token = ''] = String(line).split(' ')
  return { child, url, token }
}

async function kill(child: ChildProcess): Promise<void> {
  children.delete(child)
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

test('a page catches up with a server that was killed in the middle of a turn, each entry once', async () => {
  const first = await start('0')
  const { port } = new URL(first.url)
  const client = new MainstemClient({ baseUrl: first.url, token: first.token })
  const watched = await open({}, first.url)
  const { page } = watched
  await page.goto(`${first.url}/#ticket=${await client.ticket()}`)
  await page.getByRole('button', { name: 'Start the demo' }).click()
  const list = page.locator('[data-last-seq]')
  await page.getByText('live', { exact: true }).waitFor()
  await expect.poll(async () => Number(await list.getAttribute('data-last-seq'))).toBeGreaterThan(12)
  await kill(first.child)
  await page.getByText('offline', { exact: true }).first().waitFor()
  const second = await start(port)
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByText('The process that owned the turn went away').waitFor()
  const [record] = (await client.sessions()).sessions
  expect(record).toMatchObject({ lastOutcome: 'lost' })
  await page.getByLabel('Prompt').fill('Again, please')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Again, please').first().waitFor()
  await expect
    .poll(async () => {
      const { head } = await client.session(record?.id ?? '')
      const [from, to, count] = await Promise.all(
        ['data-first-seq', 'data-last-seq', 'data-entries'].map(async (name) =>
          Number(await list.getAttribute(name)),
        ),
      )
      return { from, behind: head - (to ?? 0), missing: (to ?? 0) - (count ?? 0) }
    })
    .toEqual({ from: 1, behind: 0, missing: 0 })
  expect(await faultsOf(watched)).toEqual([])
  await kill(second.child)
})
