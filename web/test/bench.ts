/** `npm run web:bench`: measures the built page with a long session, many sessions and a large output, and fails above a limit. */
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { script, success } from '../../test/gateway/puppet.ts'
import { launchBrowser } from './browser.ts'
import { Stage } from './stage.ts'

const EVENTS = 50_000
const SESSIONS = 2_000
const OUTPUT = 2 * 1024 * 1024

const LIMITS = { openMs: 1_000, longTaskMs: 100 }

/** Counts tasks of the page that block it; set up before anything of the page runs. */
const WATCH_TASKS = `
  globalThis.longTasks = []
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => Math.round(entry.duration))))
    .observe({ type: 'longtask', buffered: true })
`

await using stage = new Stage(resolve(import.meta.dirname, '../../dist/web'))
await stage.start()
const { client } = stage
const browser = await launchBrowser()
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
await context.addInitScript(WATCH_TASKS)
const page = await context.newPage()

async function seed(prompt: string): Promise<string> {
  const { id } = await client.begin({ agent: 'puppet', prompt })
  for await (const { event } of client.entries(id)) if (event.type === 'turn.completed') break
  return id
}

/** Milliseconds from a new address to what it shows, in the page itself. */
async function timed(hash: string, shown: (page: Page) => Promise<void>): Promise<number> {
  await page.goto('about:blank')
  await page.goto(`${stage.url}/#/usage`)
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  await page.evaluate('longTasks.length = 0')
  const start = performance.now()
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await shown(page)
  return Math.round(performance.now() - start)
}

const longest = async () => Number(await page.evaluate('Math.max(0, ...longTasks)'))

async function scroll(times: number, by: number): Promise<void> {
  await page.mouse.move(800, 400)
  for (let count = 0; count < times; count++) {
    await page.mouse.wheel(0, by)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  }
}

const faults: string[] = []
function report(name: string, value: number, limit: number | undefined): void {
  const over = limit !== undefined && value > limit
  if (over) faults.push(name)
  console.log(
    `${String(value).padStart(7)} ms  ${name}${limit === undefined ? '' : ` (limit ${limit})`}${over ? '  OVER' : ''}`,
  )
}

await page.goto(`${stage.url}/#ticket=${await client.ticket()}`)
const long = await seed(script({ flood: { texts: EVENTS, size: 60 } }, success))
const { head } = await client.session(long)
const last = `text=${EVENTS - 1} xxxx`
report(
  `open a session of ${head} events`,
  await timed(`#/sessions/${long}`, (p) => p.locator(last).first().waitFor()),
  LIMITS.openMs,
)
report('longest task while it opened', await longest(), LIMITS.longTaskMs)
await page.evaluate('longTasks.length = 0')
await scroll(200, -2_000)
report('longest task in 200 scrolls upwards', await longest(), LIMITS.longTaskMs)
console.log(
  `         read back to entry ${await page.locator('[data-first-seq]').getAttribute('data-first-seq')}`,
)

const output = Array.from(
  { length: OUTPUT / 64 },
  (_, line) => `\u001b[32m${String(line).padStart(8)}\u001b[0m ${'o'.repeat(45)}`,
).join('\n')
const large = await seed(
  script(
    { say: { type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute', title: 'cat', input: {} } },
    {
      say: { type: 'tool.completed', toolId: 't', name: 'Bash', kind: 'execute', status: 'success', output },
    },
    success,
  ),
)
report(
  'open a session with 2 MB of output',
  await timed(`#/sessions/${large}`, (p) => p.locator('[data-tool]').waitFor()),
  LIMITS.openMs,
)
await page.evaluate('longTasks.length = 0')
await page.locator('[data-tool] > button').click()
await page.getByRole('region', { name: 'Output' }).waitFor()
await scroll(20, 300)
report('longest task while the output is shown', await longest(), LIMITS.longTaskMs)

for (let count = 0; count < SESSIONS; count++) await client.begin({ agent: 'echo', prompt: `Task ${count}` })
report(
  `open the list of ${SESSIONS} sessions`,
  await timed('#/', (p) =>
    p.reload().then(() =>
      p
        .getByText(`Task ${SESSIONS - 1}`)
        .first()
        .waitFor(),
    ),
  ),
  undefined,
)
await page.mouse.move(150, 500)
await page.evaluate('longTasks.length = 0')
for (let count = 0; count < 50; count++) {
  await page.mouse.wheel(0, 600)
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}
report('longest task while the list scrolls', await longest(), LIMITS.longTaskMs)

await browser.close()
if (faults.length > 0) process.exitCode = 1
