import { expect, test } from 'vitest'
import { Mask } from '../../../src/mask/mask.ts'
import type { Event } from '../../../src/model/index.ts'
import { SecretAnswers } from '../../../src/sessions/turns/secret-answers.ts'
import { house } from '../house.ts'
import { PROTOCOLS } from '../machine/scripted-protocols.ts'
import { textOf } from './asking-agents.ts'

const questions = [
  { id: 'token', question: 'Which token?', isSecret: true, isOther: true },
  { id: 'colour', question: 'Which colour?', isOther: true },
]

const [, codex] = PROTOCOLS.find(([name]) => name === 'codex') ?? []

test.each(['a token of the vault', '12'])(
  'the agent gets the secret answer %j, and nobody sees it',
  async (secret) => {
    const home = house()
    let script: ReturnType<NonNullable<typeof codex>['script']> | undefined
    home.driver.onStart = (run) => {
      script = codex?.script(run)
    }
    const session = await home.open({}, { agent: 'codex' })
    await session.prompt('go')
    const agent = await home.driver.run(1)
    await expect.poll(() => script?.prompts).toBe(1)
    script?.begin(1)
    const params = { threadId: 'thread-1', turnId: 'turn-1', itemId: 'q', questions }
    agent.say({ id: 77, method: 'item/tool/requestUserInput', params })
    const open = async () => (await home.store.record(session.id))?.requests ?? []
    await expect.poll(async () => (await open()).length).toBe(1)
    const [{ requestId = '', inputDigest = '' } = {}] = await open()
    const answers = { token: [secret], colour: ['a bluish green'] }
    await session.answer({ type: 'answer', requestId, inputDigest, decision: 'answered', answers })
    await expect
      .poll(() => agent.written.map(textOf).filter((text) => text.includes(`["${secret}"]`)))
      .toHaveLength(1)
    const entries = await home.log(session)
    expect(entries.map(({ event }) => event).filter(({ type }) => type === 'request.resolved')).toMatchObject(
      [{ answers: { token: [`[masked ${secret.length}]`], colour: ['a bluish green'] } }],
    )
    const journal = await home.store.readJournal(session.id, 0, 1000)
    const sent = journal.filter(({ text }) => text.includes('a bluish green'))
    expect(sent).toHaveLength(1)
    expect(sent.filter(({ text }) => text.includes(`"${secret}`))).toEqual([])
    expect(JSON.stringify(entries).includes('a token of the vault')).toBe(false)
  },
)

test('an answer to a request that replaced a secret one is shown', () => {
  const secrets = new SecretAnswers(new Mask({}))
  const resolved: Event = {
    type: 'request.resolved',
    requestId: 'r',
    decision: 'answered',
    by: 'person',
    answers: { q: ['red'] },
  }
  const opened = (secret: boolean): Event => ({
    type: 'request.opened',
    requestId: 'r',
    kind: 'question',
    blocking: true,
    inputDigest: 'd',
    options: [],
    questions: [{ id: 'q', text: 'Which?', options: [], secret }],
  })
  secrets.hide(opened(true))
  secrets.hide(opened(false))
  expect(secrets.hide(resolved)).toBe(resolved)
  secrets.hide(opened(true))
  expect(secrets.hide(resolved)).toMatchObject({ answers: { q: ['[masked 3]'] } })
})
