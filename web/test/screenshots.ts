/** `npm run web:screenshots`: takes the pictures of the pages in `docs/`, from the built page and the demo. */
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { Stage } from './stage.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const IMAGES = resolve(ROOT, 'docs/images')
mkdirSync(IMAGES, { recursive: true })

await using stage = new Stage(resolve(ROOT, 'dist/web'))
await stage.start()
const browser = await launchBrowser()

async function open(colorScheme: 'light' | 'dark', width: number, height: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme })
  await page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
  await page.getByRole('searchbox', { name: 'Filter sessions' }).waitFor()
  return page
}

const begin = async (prompt: string) => (await stage.client.begin({ agent: 'demo', prompt })).id

/** Answers as a person who agrees with everything. */
async function finish(page: Page, id: string): Promise<void> {
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.getByRole('radio', { name: /Fix it too/ }).check()
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.getByRole('button', { name: 'Allow for session' }).click()
  await page.getByText('All 14 tests pass.').waitFor()
}

/** The card has been read, and its buttons are enabled. */
const readyToAnswer = (page: Page) => page.locator('[data-readiness=ready]').waitFor()

const light = await open('light', 1280, 800)
const fixed = await begin('The product list skips its first page. Find out why and fix it.')
await finish(light, fixed)
await begin('Add a dark theme to the settings page')
const asking = await begin('Why do the nightly tests fail on Windows?')
await light.goto(`${stage.url}/#/sessions/${asking}`)
await light.getByRole('heading', { name: 'Needs you 2' }).waitFor()
await readyToAnswer(light)
await light.screenshot({ path: resolve(IMAGES, 'page-request.png') })
await light.setViewportSize({ width: 1200, height: 640 })
await light.goto(`${stage.url}/#/sessions/${fixed}/events/40`)
await light.getByRole('article', { name: 'Entry 40' }).waitFor()
await light.screenshot({ path: resolve(IMAGES, 'page-events.png') })
const dark = await open('dark', 1280, 800)
await dark.goto(`${stage.url}/#/sessions/${fixed}`)
await dark.getByText('All 14 tests pass.').waitFor()
await dark.screenshot({ path: resolve(IMAGES, 'page-dark.png') })
const phone = await open('light', 390, 844)
await phone.goto(`${stage.url}/#/sessions/${asking}`)
await readyToAnswer(phone)
await phone.screenshot({ path: resolve(IMAGES, 'page-phone.png') })
await browser.close()
