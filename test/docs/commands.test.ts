import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { agents } from '../../src/agents/index.ts'
import { commandLine } from '../../src/cli/program.ts'
import { ConfigFile } from '../../src/daemon/config.ts'
import { dialects } from '../../src/dialects/index.ts'
import { blocksOf, pages } from './pages.ts'

const cli = pages.find(({ path }) => path === 'docs/cli.md')?.text ?? ''

/** The part of the page below a heading. */
const section = (title: string) => cli.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? ''

const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The code in the first cells of a section's table. */
const listed = (title: string) =>
  [...section(title).matchAll(/^\|([^|]+)\|/gm)].flatMap(([, cell = '']) => codeIn(cell))

/** Words as a shell would give them; the documented lines quote with double quotes only. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

const all = await commandLine()

/** The command line with every action left out: it only parses. */
async function parser(seen: string[]): Promise<Command> {
  const program = (await commandLine()).configureOutput({ writeErr: () => undefined })
  for (const command of program.commands) {
    command.exitOverride().configureOutput({ writeErr: () => undefined })
    command.action(() => {
      seen.push(command.name())
    })
  }
  return program
}

const lines = pages.flatMap((page) =>
  blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ place, text }) =>
      [...text.matchAll(/^(?:.*(?:&&|\|) )?(?:npx )?mainstem (.+)$/gm)].map(
        ([, line = '']) => [place, line] as const,
      ),
    ),
)

describe('the commands in the pages', () => {
  it('are found', () => {
    expect(lines.length).toBeGreaterThan(8)
  })

  it.each(lines)('%s: mainstem %s', async (_place, line) => {
    const seen: string[] = []
    const program = await parser(seen)
    program.parse(wordsOf(line), { from: 'user' })
    expect(seen).toEqual([wordsOf(line)[0]])
  })

  it('would be refused if they were wrong', async () => {
    for (const line of ['demo --slow', 'run', 'serve --port x', 'nonsense']) {
      const program = await parser([])
      expect(() => program.parse(wordsOf(line), { from: 'user' }), line).toThrow()
    }
  })
})

const keysOf = (key: 'timeouts' | 'retention' | 'limits') => ConfigFile.shape[key].unwrap().shape

describe('keys of the configuration in other pages', () => {
  const nested = (['timeouts', 'retention', 'limits'] as const).flatMap((key) =>
    Object.keys(keysOf(key)).map((name) => `${key}.${name}`),
  )

  it('exist under the name that is printed', () => {
    const printed = pages.flatMap(
      ({ text }) => text.match(/(?<=`)(?:timeouts|retention|limits)\.\w+(?=`)/g) ?? [],
    )
    expect(printed.length).toBeGreaterThan(3)
    expect(printed.filter((name) => !nested.includes(name))).toEqual([])
  })

  it('exist where the page on operations names them without their section', () => {
    const { text = '' } = pages.find(({ path }) => path === 'docs/operations.md') ?? {}
    const names = codeIn(text).filter((code) => /^[a-z]+(?:[A-Z][a-z]+)+$/.test(code))
    const known = [...Object.keys(ConfigFile.shape), ...nested.map((name) => name.split('.')[1])]
    expect(names).toContain('maxBytes')
    expect(names.filter((name) => !known.includes(name))).toEqual([])
  })
})

describe('the page on the command line', () => {
  it.each(all.commands.map((command) => [command.name(), command] as const))(
    'lists exactly the options of %s',
    (name, command) => {
      expect(listed(name)).toEqual(command.options.map(({ flags }) => flags))
    },
  )

  it('has a section for nothing else', () => {
    const titles = [...cli.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
    const commands = all.commands.map((command) => command.name())
    expect(titles).toEqual([...commands, 'Configuration', 'Exit codes'])
  })

  it('lists exactly the keys of the configuration', () => {
    expect(listed('Configuration').sort()).toEqual(Object.keys(ConfigFile.shape).sort())
  })

  it.each(['timeouts', 'retention', 'limits'] as const)('lists exactly the keys of %s', (key) => {
    const [, meaning = ''] =
      new RegExp(`^\\| \`${key}\` \\|(.+)\\|$`, 'm').exec(section('Configuration')) ?? []
    expect(codeIn(meaning).sort()).toEqual(Object.keys(keysOf(key)).sort())
  })

  it('shows a configuration that is valid', () => {
    const example = /```json\n([\s\S]*?)```/.exec(section('Configuration'))?.[1] ?? ''
    expect(ConfigFile.safeParse(JSON.parse(example)).error).toBeUndefined()
  })
})

describe('the lists of agents and dialects in the pages', () => {
  const textOf = (path: string) => pages.find((page) => page.path === path)?.text ?? ''

  it('name every agent there is, with its launches, and no other', () => {
    const [, after = ''] = textOf('README.md').split('| agent | what it is | launches |')
    const [table = ''] = after.split('\n\n')
    const rows = [...table.matchAll(/^\|(.+)\|.+\|(.+)\|$/gm)]
    const named = rows.flatMap(([, ids = '', launches = '']) =>
      codeIn(ids).map((id) => `${id}: ${launches.trim()}`),
    )
    const known = agents.map(({ id, launches }) => `${id}: ${Object.keys(launches).join(', ')}`)
    expect(named.sort()).toEqual(known.sort())
  })

  it('name every dialect there is, and no other', () => {
    const rows = textOf('docs/cli.md').match(/^\| `--(?:to|dialect) <dialect>` \|.*$/gm) ?? []
    expect(rows).toHaveLength(9)
    for (const row of rows) {
      const [, ...named] = codeIn(row)
      expect(named.sort()).toEqual([...dialects.keys()].sort())
    }
  })
})
