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
  compare: ['#/compare'],
  palette: ['#/', (page) => page.keyboard.press('Control+k')],
}

const browser = await launchBrowser()
for (const [size, [width, height]] of Object.entries(SIZES)) {
  for (const colorScheme of THEMES) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme })
    await page.goto(`${stage.url}/#ticket=${await client.ticket()}`)
    await page.getByRole('searchbox', { name: 'Filter sessions' }).waitFor()
    for (const [name, [hash, step = nothing]] of Object.entries(SCREENS)) {
      if (!name.startsWith(only)) continue
      await page.goto(`${stage.url}/${hash}`)
      await page.waitForTimeout(700)
      await step(page)
      await page.waitForTimeout(300)
      await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) })
    }
    await page.close()
  }
}
await browser.close()
