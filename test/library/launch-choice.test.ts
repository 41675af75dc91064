import { expect, test } from 'vitest'
import { type Mainstem, mainstem, type SessionRequest } from '../../src/index.ts'

const create = (): Mainstem => mainstem({ agents: { gemini: { command: ['/nonexistent/gemini'] } } })
const FREE = { approval: 'auto-all', sandbox: 'full-access' } as const

const launchOf = async (request: Partial<SessionRequest>) => {
  await using stem = create()
  await stem.session({ agent: 'gemini', cwd: '/', ...request })
  const [record] = await Array.fromAsync(stem.sessions())
  return record?.launch
}

test('an option that only the one-shot launch supports selects it, if nothing needs approval', async () => {
  expect(await launchOf({ policy: FREE })).toBe('live')
  expect(await launchOf({ policy: { ...FREE, maxSteps: 3 } })).toBe('oneshot')
  expect(await launchOf({ policy: FREE, options: { extraDirectories: ['/tmp'] } })).toBe('oneshot')
})

test('a policy that needs approval never selects a launch that cannot request it', async () => {
  await expect(launchOf({ policy: { maxSteps: 3 } })).rejects.toMatchObject({
    code: 'unsupported_option',
    message: 'maxSteps is not supported by gemini: it does not report individual model calls',
    details: {
      option: 'maxSteps',
      advice: expect.stringMatching(/launch.*oneshot.*cannot request approval/),
    },
  })
})

test('a launch that was requested is not replaced', async () => {
  const requested = launchOf({ launch: 'live', policy: { ...FREE, maxSteps: 3 } })
  await expect(requested).rejects.toMatchObject({ code: 'unsupported_option' })
})

test('an option that neither launch supports is refused with the reason of the preferred one', async () => {
  const refused = launchOf({ policy: { ...FREE, maxBudgetUsd: 1 } })
  await expect(refused).rejects.toMatchObject({
    message: expect.stringContaining('it reports cost only at the end of a turn'),
  })
})
