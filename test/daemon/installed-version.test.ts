import { mkdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { agents } from '../../src/agents/index.ts'
import { systemTimers } from '../../src/compose/clock.ts'
import { installedVersions } from '../../src/compose/installed-version.ts'
import type { AgentSettings } from '../../src/sessions/deps.ts'
import { Machine, VERSIONS } from './fake-programs.ts'

function agent(id: string): Agent {
  const found = agents.find((one) => one.id === id)
  if (!found) throw new TypeError(`there is no agent ${id}`)
  return found
}

function versionsOn(machine: Machine, settings: AgentSettings = {}) {
  return installedVersions(() => settings, {
    environment: machine.environment,
    platform: 'linux',
    timers: systemTimers,
    signal: new AbortController().signal,
  })
}

const COUNTED = `echo x >> $here/asked; ${VERSIONS.claude}`

const asked = (machine: Machine) => readFileSync(join(machine.bin, 'asked'), 'utf8').trim().split('\n').length

test('a program is run once, and again when its file changes', async () => {
  const machine = new Machine()
  const path = machine.program('claude', COUNTED)
  const versionOf = versionsOn(machine)
  const both = await Promise.all([versionOf(agent('claude')), versionOf(agent('claude'))])
  expect(both).toEqual(['2.1.326', '2.1.326'])
  expect(asked(machine)).toBe(1)
  utimesSync(path, 1, 1)
  await versionOf(agent('claude'))
  expect(asked(machine)).toBe(2)
})

test('the manifest of an npm package states the version, so the program is not started', async () => {
  const machine = new Machine()
  const folder = 'lib/node_modules/@anthropic-ai/claude-code'
  machine.file(
    `${folder}/package.json`,
    JSON.stringify({ name: '@anthropic-ai/claude-code', version: '2.2.0' }),
  )
  mkdirSync(join(machine.root, folder, 'bin'))
  const program = machine.executable(`../${folder}/bin/claude.exe`, '#!/bin/sh\nexit 1\n')
  symlinkSync(program, join(machine.bin, 'claude'))
  expect(await versionsOn(machine)(agent('claude'))).toBe('2.2.0')
})

test('a manifest of a project that the program only lies in is not its version', async () => {
  const machine = new Machine()
  machine.file('package.json', JSON.stringify({ name: 'mine', version: '0.0.1' }))
  machine.program('claude', VERSIONS.claude)
  expect(await versionsOn(machine)(agent('claude'))).toBe('2.1.326')
})

test('a program that is missing, cannot be run or prints nothing has no version', async () => {
  const machine = new Machine()
  expect(await versionsOn(machine)(agent('claude'))).toBeUndefined()
  expect(await versionsOn(machine)(agent('echo'))).toBeUndefined()
  const program = machine.program('claude', COUNTED)
  expect(await versionsOn(machine, { command: [program, '--flag'] })(agent('claude'))).toBeUndefined()
  machine.program('codex', 'exit 1')
  expect(await versionsOn(machine)(agent('codex'))).toBeUndefined()
})
