import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSchema } from '../../test/postgres/database.ts'
import { faultsOf, theatre, violations } from './page.ts'
import { Stage } from './stage.ts'

const { stage, folder, open, signedIn } = theatre()
const nodes: Stage[] = []

beforeAll(async () => {
  const url = await newSchema()
  for (const node of ['north', 'south']) {
    const one = new Stage(folder, { url, node })
    nodes.push(one)
    await one.start()
  }
})
afterAll(() => Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())))

const [NORTH, SOUTH] = [0, 1]
const at = (index: number): Stage => {
  const node = nodes[index]
  if (!node) throw new Error('the nodes start before the tests')
  return node
}

async function enter(index: number) {
  const node = at(index)
  const watched = await open({}, node.url)
  await watched.page.goto(`${node.url}/#ticket=${await node.client.ticket()}`)
  await watched.page.getByRole('link', { name: 'Nodes' }).waitFor()
  return watched
}

test('a page shows the servers that share the store, and the node of each session', async () => {
  const { id } = await at(SOUTH).client.begin({
    agent: 'demo',
    prompt: 'The product list skips its first page.',
  })
  const watched = await enter(NORTH)
  const { page } = watched
  await page.locator(`[data-session="${id}"]`).click()
  await page.getByRole('link', { name: 'on south' }).click()
  await page.getByRole('row', { name: /^north serves this page ready 0 / }).waitFor()
  await page.getByRole('row', { name: /^south ready 1 / }).waitFor()
  expect(await violations(page)).toEqual([])
  expect(await faultsOf(watched)).toEqual([])
})

test('a page of one node answers a request of a session that another node runs', async () => {
  const { id } = await at(SOUTH).client.begin({
    agent: 'demo',
    prompt: 'The product list skips its first page.',
  })
  const watched = await enter(NORTH)
  const { page } = watched
  await page.goto(`${at(NORTH).url}/#/sessions/${id}`)
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.getByText('Allowed by local (page):').waitFor()
  await page.getByRole('radio', { name: /Fix it too/ }).waitFor()
  expect(await faultsOf(watched)).toEqual([])
})

test('a page of a server without others does not speak of nodes', async () => {
  const { id } = await stage.client.begin({ agent: 'echo', prompt: 'hello' })
  const { page } = await signedIn()
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await page.getByText('turn 1', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: /Nodes|^on / }).count()).toBe(0)
  await page.goto(`${stage.url}/#/nodes`)
  await page.getByText('One server works here.').waitFor()
})
