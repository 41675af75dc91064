import { describe, expect, it } from 'vitest'
import type { Agent, Launch, ProcessLaunch, Start } from '../../src/agents/agent.ts'
import { agents } from '../../src/agents/index.ts'
import type { AgentSetup } from '../../src/agents/setup.ts'
import { childEnvironment } from '../../src/drivers/process/environment.ts'
import { LaunchKind, type Policy } from '../../src/model/index.ts'

/** What every agent takes, so that its launch can be looked at. */
const POLICY: Policy = { approval: 'auto-all', sandbox: 'none' }

function launchesOf({ launches }: Agent): [LaunchKind, Launch][] {
  return LaunchKind.options.flatMap((kind) => {
    const start: Start = { launch: kind, cwd: '/', policy: POLICY, options: {}, epoch: 1 }
    const recipe = launches[kind]
    return recipe ? [[kind, recipe.launch(start)]] : []
  })
}

function variablesOf({ credentials = [], sessions }: AgentSetup, kind: LaunchKind): string[] {
  const fromSources = credentials.flatMap((source) => {
    if (source.kind === 'variable') return source.launch && source.launch !== kind ? [] : [source.name]
    return source.kind === 'file' ? (source.location.variable ?? []) : []
  })
  return [...fromSources, ...(sessions?.variable === undefined ? [] : [sessions.variable])]
}

function reaches(variable: string, launch: ProcessLaunch): boolean {
  return (
    childEnvironment({ [variable]: 'set' }, launch, { runId: 'run', env: {} }, '/tmp')[variable] === 'set'
  )
}

it('there are agents of each kind to look at', () => {
  const kinds = new Set(agents.flatMap(launchesOf).map(([, { kind }]) => kind))
  expect(kinds).toEqual(new Set(['builtin', 'process', 'remote', 'server']))
})

describe.each(agents.map((agent) => [agent.id, agent] as const))('the setup of %s', (id, agent) => {
  const { setup } = agent
  const launches = launchesOf(agent)

  it('is there, unless the agent is built in', () => {
    expect(launches.length).toBeGreaterThan(0)
    for (const [, { kind }] of launches) expect(kind === 'builtin').toBe(setup === undefined)
  })

  it('names what is really started', () => {
    for (const [, launch] of launches) {
      // The generic agent is started by the command of its configuration.
      if ('argv' in launch) expect(setup?.program ?? 'acp').toBe(launch.argv[0])
      if (launch.kind === 'remote') expect(setup?.server).toEqual(launch.variables)
    }
    expect(launches.some(([, { kind }]) => kind === 'process') && setup?.program === undefined).toBe(
      id === 'acp',
    )
  })

  it('names only variables that reach the agent', () => {
    for (const [kind, launch] of launches) {
      if (launch.kind !== 'process' || !setup) continue
      expect(variablesOf(setup, kind).filter((variable) => !reaches(variable, launch))).toEqual([])
    }
  })

  it('keeps every path below a home directory', () => {
    const places = (setup?.credentials ?? []).flatMap((source) =>
      source.kind === 'file' ? [source.location] : [],
    )
    for (const { base, path } of [...places, ...(setup?.sessions ? [setup.sessions] : [])]) {
      expect(`${base}/${path}`.split('/')).not.toContain('..')
      expect(path.startsWith('/') || base.startsWith('/')).toBe(false)
    }
  })
})
