/** `npm run web:gallery -- <folder> [name]`: takes a picture of every screen and state, at three widths, light and dark. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { promptFor } from '../../test/gateway/puppet.ts'
import { launchBrowser } from './browser.ts'
import { nightly, requests, running, workday } from './scenes.ts'
import { Stage } from './stage.ts'

const [folder = 'gallery', only = ''] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const SIZES = { wide: [1440, 900], middle: [1024, 700], phone: [390, 844] } as const
const THEMES = ['light', 'dark'] as const

await using stage = new Stage(resolve(import.meta.dirname, '../../dist/web'))
await stage.start()
const { client, home } = stage
const begin = async (agent: string, prompt: string) => (await client.begin({ agent, prompt, cwd: home })).id

async function settled(id: string): Promise<string> {
  for await (const { event } of client.entries(id)) if (event.type === 'turn.completed') break
  return id
}

const long = await settled(
  await begin('puppet', promptFor('The product list skips its first page. Why?', workday(home))),
)
const failed = await settled(await begin('puppet', promptFor('Update the dependencies', nightly)))
const waiting: Record<string, string> = {}
for (const [name, prompt] of Object.entries(requests(home)))
  waiting[name] = await begin('able', promptFor(`Please ask me about the ${name}`, prompt))
const busy = await begin('able', promptFor('Run the tests', running))
const short = await settled(await begin('echo', 'ok'))

type Step = (page: Page) => Promise<void>
const nothing: Step = async () => undefined
const SCREENS: Record<string, [hash: string, step?: Step]> = {
  inbox: ['#/'],
  new: ['#/new'],
  conversation: [`#/sessions/${long}`],
  'conversation-top': [
    `#/sessions/${long}`,
    async (page) => {
      await page.locator('[data-scroller]').hover()
      await page.mouse.wheel(0, -20_000)
    },
  ],
  changes: [`#/sessions/${long}/changes`],
  events: [`#/sessions/${long}/events/8`],
  replay: [`#/sessions/${long}/replay`],
  failed: [`#/sessions/${failed}`],
  short: [`#/sessions/${short}`],
  running: [`#/sessions/${busy}`],
  ...Object.fromEntries(Object.entries(waiting).map(([name, id]) => [`ask-${name}`, [`#/sessions/${id}`]])),
  search: ['#/search?q=page'],
  usage: ['#/usage'],
  nodes: ['#/nodes'],
  compare: ['#/compare'],
  'compare-columns': [`#/compare?ids=${long},${failed},${waiting.command}`],
  palette: ['#/', (page) => page.keyboard.press('Control+k')],
  help: ['#/', (page) => page.keyboard.press('?')],
  settings: [`#/sessions/${long}`, (page) => page.getByText('Settings ▾').click()],
  'failed-list': [
    '#/',
    async (page) => {
      const filter = page.getByRole('button', { name: 'Failed', exact: true })
      if (await filter.isVisible()) await filter.click()
    },
  ],
  'no-session': ['#/sessions/nowhere'],
  'no-changes': [`#/sessions/${short}/changes`],
  'no-hits': ['#/search?q=nothinghasthisword'],
  login: [`#login=${'a'.repeat(64)}&name=laptop`],
}

/** Screens of a server without sessions. */
const EMPTY: Record<string, [hash: string, step?: Step]> = {
  'empty-inbox': ['#/'],
  'empty-usage': ['#/usage'],
  'empty-search': ['#/search'],
  'empty-nodes': ['#/nodes'],
}

await using bare = new Stage(resolve(import.meta.dirname, '../../dist/web'))
await bare.start()

type Server = Pick<Stage, 'url' | 'client'>

const browser = await launchBrowser()
for (const [size, [width, height]] of Object.entries(SIZES)) {
  for (const colorScheme of THEMES) {
    const look = { viewport: { width, height }, colorScheme }
    const take = (page: Page, name: string) =>
      page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) })
    const screens = async (server: Server, list: Record<string, [hash: string, step?: Step]>) => {
      const page = await browser.newPage(look)
      await page.goto(`${server.url}/#ticket=${await server.client.ticket()}`)
      await page.getByRole('searchbox', { name: 'Filter sessions' }).waitFor()
      for (const [name, [hash, step = nothing]] of Object.entries(list)) {
        if (!name.startsWith(only)) continue
        await page.goto(`${server.url}/${hash}`)
        await page.waitForTimeout(700)
        await step(page)
        await page.waitForTimeout(300)
        await take(page, name)
        // Closes what a step opened.
        if (step !== nothing) await page.reload()
      }
      return page
    }
    await (await screens(stage, SCREENS)).close()
    const page = await screens(bare, EMPTY)
    if ('offline'.startsWith(only)) {
      await bare.stop()
      await page.waitForTimeout(2_000)
      await take(page, 'offline')
      await bare.start()
    }
    await page.close()
    if ('sign-in'.startsWith(only)) {
      const out = await browser.newPage(look)
      await out.goto(stage.url)
      await out.getByLabel('Or enter a token').waitFor()
      await take(out, 'sign-in')
      await out.close()
    }
  }
}
await browser.close()
