import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { testPrograms } from '../../test/programs/programs.ts'

/** Where Linux distributions put their Chromium. */
const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** No GPU and no sandbox, as a container needs. Web security stays on. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--font-render-hinting=none',
  // A page stays in the process of the blank page that it began as. Profiles share no process in any case.
  '--renderer-process-limit=1',
]

let shared: Promise<Browser> | undefined

/** One browser for all files of tests in this process, and another one if it ended. It ends with the process. */
export async function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser()
  const browser = await shared
  if (browser.isConnected()) return browser
  shared = undefined
  return await sharedBrowser()
}

/** A real Chromium: the one of the system where there is one, otherwise the one from npm. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = SYSTEM.find((path) => existsSync(path)) ?? (await bundled())
  return chromium.launch({ executablePath, args: ARGS })
}

/** The program that the package unpacks into a temporary folder. */
async function bundled(): Promise<string> {
  const entry = join(await testPrograms(), 'node_modules/@sparticuz/chromium/build/index.js')
  const { default: packed }: { default: { executablePath(): Promise<string> } } = await import(entry)
  return packed.executablePath()
}
