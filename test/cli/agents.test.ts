import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import picocolors from 'picocolors'
import { describe, expect, test } from 'vitest'
import { agents } from '../../src/agents/index.ts'
import type { AgentPath, CredentialSource } from '../../src/agents/setup.ts'
import { registerAgents } from '../../src/cli/commands/with-agents.ts'
import { renderAgents } from '../../src/cli/render/agents.ts'
import { Screen } from '../../src/cli/render/screen.ts'
import { widthOf } from '../../src/cli/render/wrap.ts'
import { readiness } from '../../src/compose/readiness.ts'
import { mainstem } from '../../src/index.ts'
import { Verb } from '../../src/model/session/capability.ts'
import { MAIN } from '../built-program.ts'
import { Machine, STUBBORN, VERSIONS } from '../daemon/fake-programs.ts'
import { isAlive } from '../drivers/fake-run.ts'

const page = readFileSync('docs/agents.md', 'utf8')

function start(machine: Machine, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [MAIN, 'agents', ...args], {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...machine.environment, ...env },
  })
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, done: Promise.all([code, text(child.stdout), text(child.stderr)]) }
}

/** The command as somebody without a terminal runs it. */
async function run(machine: Machine, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const [code, out, err] = await start(machine, args, env).done
  return { code, out, err }
}

/** A machine with an agent in each state. */
function machineOfStates(): Machine {
  const machine = new Machine()
  machine.program('claude', VERSIONS.claude)
  machine.file('home/.claude/.credentials.json')
  machine.program('codex', 'echo "codex-cli 0.170.1"')
  machine.program('gemini', VERSIONS.gemini)
  machine.program('copilot', 'echo "copilot: node: not found" >&2; exit 127')
  return machine
}

describe('agents', () => {
  test('prints what the page says, with parts left out', async () => {
    const machine = machineOfStates()
    const { code, out, err } = await run(machine, [], { ANTHROPIC_API_KEY: 'canary' })
    expect([code, err]).toEqual([0, ''])
    const printed = out.replaceAll(machine.home, '/home/me').replaceAll(machine.root, '/usr/local')
    const shown = /```text\n(✔[\s\S]*?)```/.exec(page)?.[1] ?? ''
    const parts = shown.split('…\n')
    expect(parts.length).toBeGreaterThan(1)
    let at = 0
    for (const part of parts) {
      expect(printed.slice(at)).toContain(part)
      at = printed.indexOf(part, at) + part.length
    }
  })

  test('prints one JSON array with --json, the same that the library gives', async () => {
    const machine = machineOfStates()
    const { code, out } = await run(machine, ['--json'], { ANTHROPIC_API_KEY: 'canary' })
    const list: unknown = JSON.parse(out)
    expect(code).toBe(0)
    expect(out).not.toContain('canary')
    const environment = { ...machine.environment, ANTHROPIC_API_KEY: 'canary' }
    expect(list).toEqual(JSON.parse(JSON.stringify(await readiness({ environment }))))
  })

  test('takes the programs of the configuration', async () => {
    const machine = new Machine()
    const program = machine.program('my-claude', VERSIONS.claude)
    const config = machine.file('config.json', JSON.stringify({ agents: { claude: { command: [program] } } }))
    const { out } = await run(machine, ['--config', config])
    expect(out).toMatch(
      new RegExp(`^! claude +needs login +2\\.1\\.326, tested\n +program +${program}$`, 'm'),
    )
  })

  test('works without a HOME', async () => {
    const machine = machineOfStates()
    const { code, out, err } = await run(machine, [], { HOME: undefined })
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^. claude +\S+.* 2\.1\.326, tested$/m)
  })

  test('lets no program steer the terminal', async () => {
    const machine = new Machine()
    machine.program('claude', `printf '\\033]0;owned\\007\\033[2Jnode\\rnot found\\n' >&2; exit 1`)
    const { code, out } = await run(machine)
    expect(code).toBe(0)
    expect(out).toContain('version: nodenot found\n')
    expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
  })

  test('takes the program that it is asking along when it is interrupted', async () => {
    const machine = new Machine()
    machine.program('claude', STUBBORN)
    const { child, done } = start(machine, [])
    const pids = (await machine.left('pids')).split(' ').map(Number)
    expect(pids.map(isAlive)).toEqual([true, true])
    child.kill('SIGINT')
    expect(await done).toEqual([130, '', ''])
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  test.each([
    [['claude'], 'too many arguments'],
    [['--all'], 'unknown option'],
    [['--config'], 'argument missing'],
  ])('%j is bad usage', async (args, reason) => {
    const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
    registerAgents(program)
    await expect(program.parseAsync(['agents', ...args], { from: 'user' })).rejects.toThrow(reason)
  })

  test('a configuration that makes no sense exits with 2', async () => {
    const { code, out, err } = await run(new Machine(), ['--config', '/nowhere/config.json'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('no such file')
  })
})

test('the library reports the same for its own configuration', async () => {
  const machine = new Machine()
  const program = machine.program('my-claude', VERSIONS.claude)
  await using library = mainstem({ agents: { claude: { command: [program] } } })
  const list = await library.agents()
  expect(list.map(({ id }) => id)).toEqual(agents.map(({ id }) => id))
  expect(list.find(({ id }) => id === 'claude')).toMatchObject({ program, version: '2.1.326' })
  const stopped = await library.agents({ signal: AbortSignal.abort() })
  expect(stopped.find(({ id }) => id === 'claude')).not.toHaveProperty('version')
})

test.each([34, 60, 80])('a terminal of %i columns is not overrun, and nothing is cut', async (columns) => {
  const { environment } = machineOfStates()
  const list = await readiness({ environment })
  const wide = renderAgents(new Screen({ colors: picocolors.createColors(false) }), list)
  const options = { colors: picocolors.createColors(false), columns: () => columns }
  const narrow = renderAgents(new Screen(options), list)
  expect(narrow.split('\n').filter((line) => widthOf(line) > columns)).toEqual([])
  const words = (rendered: string) => rendered.replaceAll(/\s/g, '')
  expect(words(narrow)).toBe(words(wide))
})

describe('the page', () => {
  const code = (word: string | undefined) => (word === undefined ? '' : `\`${word}\``)
  const placed = ({ base, variable, path }: AgentPath) => {
    const usual = code(['~', base, path].filter((part) => part !== '').join('/'))
    return variable === undefined ? usual : `${usual} (${code(variable)})`
  }
  const credential = (source: CredentialSource) => {
    if (source.kind === 'file') return placed(source.location)
    if (source.kind === 'hidden') return `hidden${source.platforms ? ` (${source.platforms.join()})` : ''}`
    if (source.kind === 'named') return `variables named in ${placed(source.in)}`
    const { name, values, launch } = source
    return `${code(values ? `${name}=${values[0]}` : name)}${launch ? ` (${launch} only)` : ''}`
  }
  const sorted = agents.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
    [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
  const steps = table(
    ['agent', 'name', 'tested with', 'install', 'log in'],
    sorted.map(({ id, name, testedVersion = '', setup }) => [
      code(id),
      name,
      testedVersion,
      code(setup?.install),
      code(setup?.login),
    ]),
  )
  const looks = table(
    ['agent', 'credentials', 'sessions'],
    sorted.flatMap(({ id, setup: { credentials, sessions } = {} }) =>
      credentials || sessions
        ? [[code(id), credentials?.map(credential).join(', ') ?? '', sessions ? placed(sessions) : '']]
        : [],
    ),
  )

  const verbs = table(
    ['agent', ...Verb.options.map(code)],
    sorted.flatMap(({ id, launches }) =>
      Object.entries(launches)
        .filter(([, { capabilities }]) => capabilities.verbs)
        .map(([kind, { capabilities, lacks }]) => [
          `${code(id)} ${kind}`,
          ...Verb.options.map((verb) =>
            capabilities.verbs?.includes(verb) ? 'yes' : (lacks?.[verb] ?? 'no'),
          ),
        ]),
    ),
  )

  // Run with --update, this writes the tables.
  test('has the tables that the setups say', async () => {
    // Each by its own columns: the page has other tables of agents.
    const written = [...page.matchAll(/^\| agent \| (?:name|`fork`|credentials) \|[^\n]*\n(?:\|[^\n]*\n)*/gm)]
    expect(written).toHaveLength(3)
    const [installs = '', has = '', traces = ''] = written.map(([text]) => text)
    const current = page
      .replace(installs, () => steps)
      .replace(has, () => verbs)
      .replace(traces, () => looks)
    await expect(current).toMatchFileSnapshot('../../docs/agents.md')
  })
})
