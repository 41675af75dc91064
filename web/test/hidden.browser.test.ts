import { expect, test, vi } from 'vitest'
import { promptFor, script, success, text } from '../../test/gateway/puppet.ts'
import { theatre } from './page.ts'

const { stage, signedIn } = theatre()

const PATIENCE = { timeout: 30_000 }

/** Reverses the text after it. */
const TURN = '\u202e'
const field = (name: string) => `${name}${TURN}gnp.exe`

/** Everything that the page shows or reads out, also of closed parts. */
const SHOWN = `[
  document.title,
  document.body.textContent,
  ...[...document.querySelectorAll('*')].flatMap((element) =>
    ['title', 'aria-label', 'alt', 'placeholder'].map((name) => element.getAttribute(name) ?? '')),
].filter((text) => text.includes('\\u202e'))`

const everything = script(
  {
    say: {
      type: 'session.updated',
      title: field('title'),
      model: field('model'),
      agentVersion: field('version'),
    },
  },
  text('a', `found ${field('message')}`),
  { say: { type: 'thinking.completed', messageId: 't', text: field('thought') } },
  { say: { type: 'plan.updated', items: [{ text: field('step'), status: 'pending' }] } },
  { say: { type: 'notice.raised', level: 'warning', code: 'agent_warning', message: field('notice') } },
  {
    say: {
      type: 'tool.started',
      toolId: 'b',
      name: field('Bash'),
      kind: 'execute',
      title: field('call'),
      input: { command: field('ls') },
    },
  },
  {
    say: {
      type: 'tool.completed',
      toolId: 'b',
      name: 'Bash',
      kind: 'execute',
      status: 'error',
      output: field('output'),
      error: field('problem'),
    },
  },
  {
    say: {
      type: 'subagent.started',
      id: 's',
      label: field('agent'),
      background: false,
      model: field('small'),
    },
  },
  { say: { type: 'subagent.completed', id: 's', status: 'success', summary: field('summary') } },
  { say: { type: 'file.changed', path: `${field('file')}`, change: 'created', after: field('content') } },
  success,
)

test('no field of an agent reverses or hides text on any screen', async () => {
  const prompt = promptFor(`Look ${field('prompt')}`, everything)
  const { id } = await stage.client.begin({ agent: 'able', cwd: stage.home, prompt })
  await vi.waitFor(async () => expect((await stage.client.session(id)).status).toBe('idle'), PATIENCE)
  const { page } = await signedIn()
  const reads = async (path: string, wait: string) => {
    await page.goto(`${stage.url}/#/${path}`)
    await page.getByText(wait).first().waitFor()
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
    expect(await page.evaluate(SHOWN), path).toEqual([])
  }
  await reads(`sessions/${id}`, 'step\\u202egnp.exe')
  for (const name of ['title', 'notice', 'agent', 'summary'])
    await page.getByText(`${name}\\u202egnp.exe`).first().waitFor()
  await reads(`sessions/${id}/changes`, 'file\\u202egnp.exe')
  await reads(`sessions/${id}/events`, 'session.updated')
  await page.getByText('plan.updated').click()
  await page
    .getByRole('article', { name: /^Entry/ })
    .getByText('step\\u202egnp.exe')
    .first()
    .waitFor()
  expect(await page.evaluate(SHOWN)).toEqual([])
  await reads(`sessions/${id}/replay`, 'title\\u202egnp.exe')
  await reads('', 'New session')
  await reads('search?q=found', 'message\\u202egnp.exe')
  await page.keyboard.press('Control+k')
  await page
    .getByRole('option', { name: /title\\u202egnp\.exe/ })
    .first()
    .waitFor()
  expect(await page.evaluate(SHOWN)).toEqual([])
})
