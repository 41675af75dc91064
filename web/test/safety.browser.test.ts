import { describe, expect, test } from 'vitest'
import { type Cue, script } from '../../test/gateway/puppet.ts'
import { CORPUS } from './corpus.ts'
import { faultsOf, theatre } from './page.ts'

const { stage, open, signedIn } = theatre()

interface Swept {
  found: string[]
  seen: number
  /** Tool cards, each time they are looked at. */
  tools: number
}

/** The markup everywhere an agent can write. */
function everywhere(evil: string, index: number): Cue[] {
  const id = `${index}`
  const said: NonNullable<Cue['say']>[] = [
    {
      type: 'session.updated',
      title: evil,
      model: evil,
      agentVersion: evil,
      modes: [{ id: evil, name: evil }],
    },
    { type: 'text.completed', messageId: id, text: evil },
    { type: 'text.delta', messageId: `d${id}`, text: evil },
    { type: 'thinking.completed', messageId: id, text: evil },
    { type: 'plan.updated', items: [{ text: evil, status: 'pending' }] },
    { type: 'notice.raised', level: 'warning', code: 'agent_warning', message: evil },
    { type: 'output.written', stream: 'stderr', line: evil },
    {
      type: 'tool.started',
      toolId: id,
      name: evil,
      kind: 'execute',
      title: evil,
      input: { [evil]: evil, command: evil },
    },
    {
      type: 'tool.completed',
      toolId: id,
      name: evil,
      kind: 'execute',
      status: 'error',
      output: evil,
      error: evil,
    },
    { type: 'file.changed', path: evil, change: 'modified', toolId: id, before: 'a', after: evil },
    { type: 'subagent.started', id: `s${id}`, toolId: id, label: evil, model: evil },
  ]
  return said.map((say) => ({ say }))
}

const question: Cue[] = CORPUS.slice(0, 20).map((evil, index) => ({
  say: {
    type: 'request.opened',
    requestId: `q${index}`,
    kind: 'question',
    blocking: true,
    title: evil,
    tool: evil,
    options: [],
    questions: [
      { id: 'x', header: evil, text: evil, options: [{ label: evil, description: evil }], other: true },
    ],
  } as NonNullable<Cue['say']>,
}))

/** Scrolls every list from its start to its end, opens everything on the way, and collects what must not be there. */
const SWEEP = `(async () => {
  const found = new Set()
  let seen = 0
  let tools = 0
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))
  const look = () => {
    for (const details of document.querySelectorAll('details:not([open]):not(header details)')) details.open = true
    for (const folded of document.querySelectorAll('[data-tool] > button[aria-expanded=false], [aria-label=Requests] > button')) folded.click()
    tools += document.querySelectorAll('[data-tool]').length
    for (const element of document.querySelectorAll('#root *')) {
      seen++
      if (/^(?:script|iframe|object|embed|style|link|meta|base|video|source|math|mglyph|img|template|form)$/i.test(element.localName) && !element.matches('form[class]'))
        found.add(element.outerHTML.slice(0, 120))
      for (const { name, value } of element.attributes)
        if (/^on/i.test(name) || name === 'srcdoc') found.add(name + '=' + value)
      if (element.localName === 'a' && !/^(?:https?|mailto):$/.test(element.protocol)) found.add(element.outerHTML.slice(0, 120))
    }
  }
  for (const list of document.querySelectorAll('[data-scroller], [aria-label=Entries]')) {
    for (let top = 0; ; top += list.clientHeight * 0.7) {
      // Scrolls like a person; otherwise the list follows its end.
      list.dispatchEvent(new WheelEvent('wheel'))
      list.scrollTop = top
      await frames()
      look()
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - 2) break
    }
  }
  await frames()
  look()
  return { found: [...found], seen, tools }
})()`

/**
 * Each view of a session, and what it shows once it is there. The conversation opens at its end, where the questions
 * are. The replay shows the items of the conversation.
 */
const TABS = {
  conversation: '[data-scroller] :text("Waiting for an answer")',
  changes: '[aria-label^="Diff of"]',
  events: '[data-seq]',
}

describe('text of an agent', () => {
  test('runs nothing, loads nothing and breaks no policy, wherever it is shown', async () => {
    const cues = CORPUS.flatMap(everywhere)
    const { id } = await stage.client.begin({ agent: 'able', prompt: script(...cues, ...question) })
    await expect.poll(async () => (await stage.client.session(id)).requests.length).toBe(question.length)
    const watched = await signedIn()
    const { page } = watched
    for (const [tab, shown] of Object.entries(TABS)) {
      await page.goto(`${stage.url}/#/sessions/${id}/${tab}`)
      await page.locator(shown).first().waitFor()
      const { found, seen, tools }: Swept = await page.evaluate(SWEEP)
      expect(found, tab).toEqual([])
      expect(seen).toBeGreaterThan(1_000)
      if (tab === 'conversation') expect(tools).toBeGreaterThan(CORPUS.length)
    }
    await page.goto(`${stage.url}/#/`)
    await page.getByRole('heading', { name: /requests need you/ }).waitFor()
    expect((await page.evaluate<Swept>(SWEEP)).found).toEqual([])
    for (const word of ['alert', 'evil', 'javascript', 'onerror']) {
      await page.goto(`${stage.url}/#/search?q=${word}`)
      await page.locator('mark').first().waitFor()
      expect((await page.evaluate<Swept>(SWEEP)).found, `search for ${word}`).toEqual([])
    }
    expect(await faultsOf(watched)).toEqual([])
  })

  test('stays readable as text', async () => {
    const prompt = script({
      say: { type: 'text.completed', messageId: 'a', text: 'before <b>bold</b> after' },
    })
    const { id } = await stage.client.begin({ agent: 'able', prompt })
    const { page } = await signedIn()
    await page.goto(`${stage.url}/#/sessions/${id}`)
    await page.getByText('before <b>bold</b> after', { exact: true }).waitFor()
  })
})

describe('sign-in', () => {
  test('a plain visit shows how to sign in, and takes a token', async () => {
    const watched = await open()
    const { page } = watched
    await page.goto(`${stage.url}/`)
    await page.getByText('mainstem open', { exact: true }).waitFor()
    await page.getByLabel('Or enter a token').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The server does not know this token.').waitFor()
    await page.getByLabel('Or enter a token').fill(stage.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('searchbox', { name: 'Filter sessions' }).waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
      stage.token,
    )
    expect(await faultsOf(watched)).toEqual([])
  })

  test('a used or wrong ticket leads back to the sign-in with the reason, and leaves no ticket in the address', async () => {
    const { page } = await open()
    await page.goto(`${stage.url}/#ticket=wrong`)
    await page.getByText('This link was used before or has expired').waitFor()
    expect(page.url()).not.toContain('ticket')
  })

  test('a sign-in that the server no longer accepts leads back to the sign-in with the reason', async () => {
    const { page } = await signedIn()
    const [cookie] = await page.context().cookies()
    if (!cookie) throw new Error('a signed-in page has a cookie')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    await page.context().addCookies([{ ...cookie, value: cookie.value.replace(/^\d{13}/, '1000000000000') }])
    await page.reload()
    await page.getByText('The token you signed in with was removed or replaced').waitFor()
  })

  test('signing out ends it', async () => {
    const { page } = await signedIn()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Command or session' }).fill('sign out')
    await page.keyboard.press('Enter')
    await page.getByText('You signed out').waitFor()
    await page.reload()
    await page.getByLabel('Or enter a token').waitFor()
  })
})
