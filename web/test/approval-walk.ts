import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { seededRandom } from '../../conformance/random.ts'
import { MainstemError } from '../../src/model/index.ts'
import { script } from '../../test/gateway/puppet.ts'
import { type JudgedApproval, ORACLE } from './approval-oracle.ts'
import { ask, decisions, opened } from './approval-requests.ts'
import type { Theatre } from './page.ts'
import type { Stage } from './stage.ts'

const STEPS = 50
/** Where a walk takes place. */
export type Walker = Pick<Theatre, 'stage' | 'open'>

type Step = (page: Page, random: () => number, session: string, stage: Stage) => Promise<unknown>

/** A request whose first words are its title, and whose last words are the end of its input. */
export const askFor = (id: string, lines: number) =>
  ask(id, { command: command(id, lines) }, { title: `START-${id}` })

const command = (id: string, lines: number) =>
  [...Array.from({ length: lines }, (_, line) => `echo ${line}`), `END-${id}`].join('\n')

const LENGTHS = [0, 3, 40, 700]

/** Measures all of them at once, because each may be gone a moment later. */
async function clickAt(page: Page, selector: string, random: () => number): Promise<void> {
  const boxes = await page
    .locator(selector)
    .evaluateAll((found) => found.map((one) => one.getBoundingClientRect().toJSON()))
  const box = boxes[Math.floor(random() * boxes.length)]
  if (box) await page.mouse.click(box.x + box.width * random(), box.y + box.height * random())
}

async function wheel(page: Page, random: () => number): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 800, height: 600 }
  await page.mouse.move(width * random(), height * (0.4 + 0.55 * random()))
  await page.mouse.wheel(0, (random() - 0.3) * 6_000)
}

/** The walk may have answered the request or stopped the turn in between: the first decision wins. */
async function ifStillOpen(sent: Promise<unknown>): Promise<void> {
  await sent.catch((error: unknown) => {
    if (!(error instanceof MainstemError) || error.code !== 'conflict') throw error
  })
}

/** What a person, a pet or another client may do. Some steps come several times, to be taken more often. */
const MOVES: readonly Step[] = [
  (page) => page.keyboard.press('a'),
  (page) => page.keyboard.press('a'),
  (page) => page.keyboard.press('s'),
  (page) => page.keyboard.press('r'),
  (page) => page.keyboard.press('Tab'),
  (page) => page.keyboard.press('Enter'),
  (page) => page.keyboard.press('Space'),
  (page) => page.keyboard.press('End'),
  (page) => page.keyboard.press('Escape'),
  async (page) => {
    for (let repeat = 0; repeat < 20; repeat++) await page.keyboard.down('a')
    await page.keyboard.up('a')
  },
  async (page) => {
    await page.keyboard.press('i')
    await page.keyboard.type('as a')
  },
  wheel,
  wheel,
  wheel,
  (page, random) => clickAt(page, 'article button', random),
  (page, random) => clickAt(page, 'article button', random),
  (page, random) => clickAt(page, 'article', random),
  (page, random) => clickAt(page, '[aria-label=Requests] button', random),
  (page, random) => clickAt(page, '[data-rest]', random),
  (page, random) =>
    page.setViewportSize({
      width: 360 + Math.floor(random() * 900),
      height: 400 + Math.floor(random() * 500),
    }),
  (page) => page.evaluate('new Promise((done) => setTimeout(done, 450))'),
  (page) => page.evaluate('new Promise((done) => setTimeout(done, 450))'),
  (page) => page.evaluate('new Promise((done) => setTimeout(done, 450))'),
  async (_, random, session, stage) => {
    const id = `new${Math.floor(random() * 1e6)}`
    const cue = askFor(id, LENGTHS[Math.floor(random() * LENGTHS.length)] ?? 0)
    await ifStillOpen(stage.client.steer(session, JSON.stringify(cue.say)))
  },
  async (_, __, session, stage) => {
    const [first] = (await stage.client.session(session)).requests
    if (!first) return
    const { requestId, inputDigest } = first
    await ifStillOpen(stage.client.answer(session, requestId, { decision: 'deny', inputDigest }))
  },
]

export interface Walked {
  allowed: number
  unintended: string[]
}

/**
 * Approves a short request of another session as a person would: waits until its card is ready, and uses the key or the
 * button. Every walk does this once, so a page that approves nothing fails by its rule, and not by bad luck.
 */
async function approveOnPurpose(page: Page, seed: number, stage: Stage): Promise<string[]> {
  const id = `meant${seed}`
  const { id: session } = await stage.client.begin({
    agent: 'able',
    prompt: script(askFor(id, 0)),
  })
  await opened(stage.client, session, 1)
  await page.setViewportSize({ width: 1280, height: 800 })
  // Closes a dialog that the walk may have opened.
  await page.keyboard.press('Escape')
  await page.goto(`${stage.url}/#/sessions/${session}`)
  const card = page.locator(`[data-request="${id}"]`)
  // Takes the focus away from a field in which the walk may have typed.
  await card.locator('header').click()
  await card.and(page.locator('[data-readiness=ready][aria-current=true]')).waitFor()
  if (seed % 2 === 0) await page.keyboard.press('a')
  else await card.getByRole('button', { name: 'Allow once' }).click()
  await expect
    .poll(() => decisions(stage.client, session), { message: `seed ${seed}: the intended approval` })
    .toEqual([`${id} allow`])
  await stage.client.end(session)
  return decisions(stage.client, session)
}

async function walk(page: Page, seed: number, stage: Stage): Promise<Walked> {
  const random = seededRandom(seed, 'approvals')
  const purposeStep = Math.floor(random() * STEPS)
  const meant: string[] = []
  const ids = ['a', 'b', 'c', 'd'].map((name) => `${name}${seed}`)
  const cues = ids.map((id) => askFor(id, LENGTHS[Math.floor(random() * LENGTHS.length)] ?? 0))
  const { id: session } = await stage.client.begin({ agent: 'able', prompt: script(...cues) })
  await opened(stage.client, session, ids.length)
  const address = `${stage.url}/#/sessions/${session}`
  await page.goto(address)
  await page.locator(`[data-request="${ids[0]}"]`).waitFor()
  for (let step = 0; step < STEPS; step++) {
    await MOVES[Math.floor(random() * MOVES.length)]?.(page, random, session, stage)
    if (step !== purposeStep) continue
    meant.push(...(await approveOnPurpose(page, seed, stage)))
    await page.goto(address)
  }
  // An approval that is still on its way is refused after this.
  await stage.client.end(session)
  const judged: JudgedApproval[] = await page.evaluate('approvals.splice(0)')
  const decided = [...meant, ...(await decisions(stage.client, session))]
  const allowed = decided.filter((one) => one.endsWith(' allow'))
  const unintended = allowed.flatMap((one) => {
    const faults =
      judged.find(({ requestId }) => one === `${requestId} allow`)?.faults ?? faultsOfPolicy(judged)
    return faults.length === 0 ? [] : [`seed ${seed}, ${one}: ${faults.join(', ')}`]
  })
  return { allowed: allowed.length, unintended }
}

/** An approval that the page did not send was one of the policy: somebody must have meant to change that. */
function faultsOfPolicy(judged: readonly JudgedApproval[]): string[] {
  const changes = judged.filter(({ requestId }) => requestId === undefined)
  return changes.length === 0 ? ['sent without a key or a click'] : changes.flatMap(({ faults }) => faults)
}

/** Walks along each seed, on several pages at once, until `isEnough` or all are walked. */
export async function walkAll(
  { stage, open }: Walker,
  seeds: number[],
  pages: number,
  isEnough: (total: Walked) => boolean = () => false,
): Promise<Walked> {
  const total: Walked = { allowed: 0, unintended: [] }
  const stroll = async () => {
    const { page } = await open()
    await page.addInitScript(ORACLE)
    await page.goto(`${stage.url}/#ticket=${await stage.client.ticket()}`)
    await page.getByRole('searchbox', { name: 'Filter sessions' }).waitFor()
    while (!isEnough(total)) {
      const seed = seeds.shift()
      if (seed === undefined) return
      const { allowed, unintended } = await walk(page, seed, stage)
      total.allowed += allowed
      total.unintended.push(...unintended)
    }
  }
  await Promise.all(Array.from({ length: Math.min(pages, seeds.length) }, stroll))
  return total
}
