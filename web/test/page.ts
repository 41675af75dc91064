import axe from 'axe-core'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { sharedBrowser } from './browser.ts'
import { buildPage, type Plant, pageFolder } from './built-page.ts'
import { Stage } from './stage.ts'

/** Violations that a page must not cause during a test. */
export interface Watched {
  page: Page
  /** Dialogs, faults, violations of the content security policy, and requests to other hosts. */
  faults: string[]
}

/** Collected in the page itself, because violations are events of its documents. */
const WATCH_POLICY = `
  globalThis.violations = []
  addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI))
`

/** Without motion: what moves is drawn 60 times a second, by the processor. */
const PROFILE = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } as const

export interface Theatre {
  stage: Stage
  /** The build folder of the page of these tests. */
  folder: string
  /** A page of a new browser profile, which may call this server alone. */
  open(options?: BrowserContextOptions, url?: string): Promise<Watched>
  signedIn(options?: BrowserContextOptions): Promise<Watched>
}

/** One server for a file of tests, one browser for the files of a process, and one build of the page for all files without plants. */
export function theatre(plants: readonly Plant[] = []): Theatre {
  const folder = pageFolder(plants)
  const stage = new Stage(folder)
  const contexts: BrowserContext[] = []
  beforeAll(async () => {
    await buildPage(folder, plants)
    await stage.start()
  })
  // An open page of a session at work draws all the time.
  afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())))
  afterAll(() => stage[Symbol.asyncDispose]())
  const open = async (options: BrowserContextOptions = {}, url = stage.url) => {
    const browser = await sharedBrowser()
    const context = await browser.newContext({ ...PROFILE, ...options })
    contexts.push(context)
    await context.addInitScript(WATCH_POLICY)
    return watched(await context.newPage(), url)
  }
  const signedIn = async (options?: BrowserContextOptions) => {
    const found = await open(options)
    await found.page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
    await found.page.getByRole('searchbox', { name: 'Filter sessions' }).waitFor()
    return found
  }
  return { stage, folder, open, signedIn }
}

function watched(page: Page, url: string): Watched {
  const faults: string[] = []
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', ({ message }) => faults.push(`error: ${message}`))
  page.on('request', (request) => {
    if (!/^(?:data|blob|about):/.test(request.url()) && !request.url().startsWith(url))
      faults.push(`request: ${request.url()}`)
  })
  return { page, faults }
}

/** The violations of the page. */
export async function faultsOf({ page, faults }: Watched): Promise<string[]> {
  const violations: string[] = await page.evaluate('globalThis.violations')
  return [...faults, ...violations]
}

interface Violation {
  id: string
  impact: string
  nodes: { html: string }[]
}

/** Serious violations of accessibility rules: of all of them, or of these. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const found: Violation[] = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}
