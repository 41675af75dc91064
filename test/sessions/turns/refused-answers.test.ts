import { expect, test } from 'vitest'
import type { FakeRun } from '../fake-driver.ts'
import { house } from '../house.ts'
import { PROTOCOLS } from '../machine/scripted-protocols.ts'
import { textOf } from './asking-agents.ts'

const WIDE = [
  ['for this session', { optionId: 'yes', name: 'Allow for this session', kind: 'allow_always' }],
  ['for ever', { optionId: 'yes', name: 'Always allow', kind: 'allow_always' }],
] as const

const [, protocol] = PROTOCOLS.find(([name]) => name === 'acp') ?? []

function asks(run: FakeRun, option: object): void {
  const toolCall = { toolCallId: 'call', title: 'rm', kind: 'execute', rawInput: { command: 'rm' } }
  const options = [option, { optionId: 'no', name: 'No', kind: 'reject_once' }]
  const params = { sessionId: 's1', toolCall, options }
  run.say({ jsonrpc: '2.0', id: 7, method: 'session/request_permission', params })
}

test.each(WIDE)('a hook that allows what the agent allows only %s denies it', async (_, option) => {
  const home = house()
  const { driver } = home
  let script: ReturnType<NonNullable<typeof protocol>['script']> | undefined
  driver.onStart = (run) => {
    script ??= protocol?.script(run)
  }
  const options = { hooks: { beforeToolCall: { command: ['/bin/hook'] as [string] } } }
  const session = await home.open({}, { agent: protocol?.agent ?? '', options })
  await session.prompt('go')
  const agent = await driver.run(1)
  await expect.poll(() => script?.prompts).toBe(1)
  asks(agent, option)
  const hook = await driver.run(2)
  hook.die({ code: 0 })
  const events = async () => (await home.log(session)).map(({ event }) => event)
  await expect.poll(async () => (await events()).map(({ type }) => type)).toContain('request.resolved')
  expect(await events()).toContainEqual(
    expect.objectContaining({ type: 'request.resolved', decision: 'deny', by: 'policy' }),
  )
  expect(await events()).toContainEqual(
    expect.objectContaining({
      ...{ type: 'notice.raised', level: 'error', code: 'answer_invalid' },
      message: expect.stringContaining('the agent does not offer "once" here'),
    }),
  )
  expect(agent.written.map(textOf).filter((text) => text.includes('"optionId":"no"'))).toHaveLength(1)
  expect(agent.written.map(textOf).filter((text) => text.includes('"optionId":"yes"'))).toEqual([])
})
