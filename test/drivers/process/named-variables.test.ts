import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { ProcessLaunch } from '../../../src/agents/agent.ts'
import { codex } from '../../../src/agents/codex/agent.ts'
import type { ChildKeys } from '../../../src/drivers/driver.ts'
import { environmentOf } from '../../../src/drivers/process/environment.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'

const made: string[] = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true })
})

const OURS = { MY_KEY: 'k1', OTHER_KEY: 'k2', THIRD_KEY: 'k3', MAINSTEM_TOKEN: 't' }

const CONFIG = `
model_provider = "mine"
[model_providers.mine]
base_url = "http://127.0.0.1:1/v1"
env_key = "MY_KEY"
# env_key = "OTHER_KEY"
[model_providers]
inline = { name = "x", env_key = 'THIRD_KEY' }
[model_providers.bad]
env_key = "MAINSTEM_TOKEN"
`

function launchOf(launch: 'live' | 'oneshot'): ProcessLaunch {
  const start = { launch, cwd: '/', policy: DEFAULT_POLICY, options: {}, epoch: 1 }
  const made = codex.launches[launch]?.launch(start)
  if (made?.kind !== 'process') throw new TypeError('not a process')
  return made
}

/** Those of our keys that reach a Codex whose home has this configuration. */
function keysOf(launch: 'live' | 'oneshot', folder: string, home: 'HOME' | 'CODEX_HOME'): string[] {
  const root = mkdtempSync(join(tmpdir(), 'named-'))
  made.push(root)
  mkdirSync(join(root, folder))
  writeFileSync(join(root, folder, 'config.toml'), CONFIG)
  const ours = { HOME: '/nowhere', ...OURS, [home]: home === 'HOME' ? root : join(root, folder) }
  const child = environmentOf(ours, launchOf(launch), { runId: 'r', env: {} }, '/tmp')
  return Object.keys(OURS).filter((name) => name in child)
}

describe.each(['live', 'oneshot'] as const)('a %s Codex', (launch) => {
  test('gets the keys that the providers of its configuration name', () => {
    expect(keysOf(launch, '.codex', 'HOME')).toEqual(['MY_KEY', 'THIRD_KEY'])
    expect(keysOf(launch, 'codex', 'CODEX_HOME')).toEqual(['MY_KEY', 'THIRD_KEY'])
  })

  test('has exactly these keys protected', () => {
    const root = mkdtempSync(join(tmpdir(), 'named-'))
    made.push(root)
    writeFileSync(join(root, 'config.toml'), 'env_key = "GATEWAY_LOGIN"\nenv_key = "UNSET_KEY"')
    const ours = { HOME: '/nowhere', CODEX_HOME: root, GATEWAY_LOGIN: 'secret', OPENAI_ORG: 'public' }
    const secrets: string[] = []
    const protect = ({ named = [] }: ChildKeys) => secrets.push(...named)
    const context = { runId: 'r', env: {}, protect }
    environmentOf(ours, launchOf(launch), context, '/tmp')
    expect(secrets).toEqual(['secret'])
  })

  test('without a configuration gets none of them', () => {
    const child = environmentOf(
      { ...OURS, HOME: '/nowhere' },
      launchOf(launch),
      { runId: 'r', env: {} },
      '/tmp',
    )
    expect(Object.keys(OURS).filter((name) => name in child)).toEqual([])
  })
})
