import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Launch, LaunchRecipe } from '../../src/agents/agent.ts'
import { agents } from '../../src/agents/index.ts'
import { filePath } from '../../src/agents/kit/option.ts'
import { Approval, LaunchKind, MainstemError, type McpServer, type Policy } from '../../src/model/index.ts'
import type { NewSession } from '../../src/model/session/new-session.ts'
import { runs, someOf } from '../long.ts'
import { house } from '../sessions/house.ts'

/** What Linux takes as one argument or one variable, in bytes and with its end. */
const LONGEST = 131_072

const HOSTILE = [
  ...['-x', '--x', '--x=y', '-', '--', '-c', '--dangerously-skip-permissions'],
  ...['a\n--x', '\n', '\r\n', 'a\0b', '\0', '', ' ', '\t--x', '\u001b[2J', '\u007f'],
  // As a launch writes the places of its own files.
  ...[filePath('mcp.json'), filePath('settings.json'), filePath('schema.json')],
  ...['..', '../../etc/passwd', '/', '~', '$(x)', '`x`', ';x', '| x', '&& x', '*', '%s'],
  ...['"', "'", '\\', '"x"', "'; x '", '" --x "', 'a" = "b', '=', 'a=b', ',', 'a,--x', '{', '}', ']', '#'],
  ...[
    'ünï',
    '日本',
    '🙂',
    '\u202e',
    '\ufeff',
    '\ud800',
    '\u2028--x',
    'x'.repeat(300_000),
    'ü'.repeat(70_000),
  ],
]
const TRIED = someOf(HOSTILE, 16)
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('-', '=', ' ', ',', '"', "'", '\\', '\n', '\0', '$', '.', '/', 'x') }),
)

interface Field {
  harmless: string
  build(value: string): Partial<NewSession>
}

const server = (given: McpServer): Partial<NewSession> => ({ options: { mcpServers: { x: given } } })
const tools = (list: 'available' | 'preapproved' | 'denied'): Field => ({
  harmless: 'execute',
  build: (value) => ({ policy: { approval: 'auto-all', sandbox: 'none', tools: { [list]: [value] } } }),
})
const serverTool = (list: 'preapproved' | 'denied'): Field => ({
  harmless: 'x',
  build: (value) => tools(list).build(`mcp:docs/${value}`),
})

/** Every string that a caller can set. */
const FIELDS: Readonly<Record<string, Field>> = {
  model: { harmless: 'x/x', build: (model) => ({ options: { model } }) },
  effort: { harmless: 'x', build: (effort) => ({ options: { effort } }) },
  'systemPrompt.append': { harmless: 'x', build: (append) => ({ options: { systemPrompt: { append } } }) },
  'systemPrompt.replace': { harmless: 'x', build: (replace) => ({ options: { systemPrompt: { replace } } }) },
  extraDirectories: { harmless: '/x', build: (path) => ({ options: { extraDirectories: [path] } }) },
  'mcpServers name': {
    harmless: 'x',
    build: (name) => ({ options: { mcpServers: { [name]: { command: 'x' } } } }),
  },
  'mcpServers command': { harmless: 'x', build: (command) => server({ command }) },
  'mcpServers args': { harmless: 'x', build: (arg) => server({ command: 'x', args: [arg] }) },
  'mcpServers url': { harmless: 'x', build: (url) => server({ url }) },
  'mcpServers header name': {
    harmless: 'x',
    build: (name) => server({ url: 'x', headers: { [name]: 'x' } }),
  },
  'mcpServers header': { harmless: 'x', build: (value) => server({ url: 'x', headers: { x: value } }) },
  'mcpServers env name': { harmless: 'x', build: (name) => server({ command: 'x', env: { [name]: 'x' } }) },
  'mcpServers env': { harmless: 'x', build: (value) => server({ command: 'x', env: { x: value } }) },
  'mcpServers includeTools': {
    harmless: 'x',
    build: (tool) => server({ command: 'x', includeTools: [tool] }),
  },
  'mcpServers excludeTools': {
    harmless: 'x',
    build: (tool) => server({ command: 'x', excludeTools: [tool] }),
  },
  'env name': { harmless: 'X', build: (name) => ({ options: { env: { [name]: 'x' } } }) },
  env: { harmless: 'x', build: (value) => ({ options: { env: { X: value } } }) },
  'tools.available': tools('available'),
  'tools.preapproved': tools('preapproved'),
  'tools.denied': tools('denied'),
  'tools.preapproved of a server': serverTool('preapproved'),
  'tools.denied of a server': serverTool('denied'),
  writableRoots: {
    harmless: '/x',
    build: (root) => ({ policy: { approval: 'ask', sandbox: 'workspace-write', writableRoots: [root] } }),
  },
  resume: { harmless: 'x', build: (resume) => ({ resume }) },
  'outputSchema key': { harmless: 'x', build: (key) => ({ options: { outputSchema: { [key]: 'x' } } }) },
  outputSchema: { harmless: 'x', build: (value) => ({ options: { outputSchema: { title: value } } }) },
  // A kind is refused as it comes, unless it is one of a few.
  'image kind': {
    harmless: 'png',
    build: (kind) => ({ options: { images: [{ mimeType: `image/${kind}`, data: 'AAAA' }] } }),
  },
  'image data': {
    harmless: 'AAAA',
    build: (data) => ({ options: { images: [{ mimeType: 'image/png', data }] } }),
  },
  cwd: { harmless: '/x', build: (cwd) => ({ cwd }) },
}

const LAUNCHES = agents.flatMap(({ id, launches }) =>
  LaunchKind.options.flatMap((kind) => (launches[kind] ? [[id, kind] as const] : [])),
)

/** The strictest policy that can be kept: some agents ask nobody here. */
function policyOf(agent: string, kind: LaunchKind): Policy {
  const recipe = recipeOf(agent, kind)
  for (const approval of Approval.options) {
    const policy: Policy = { approval, sandbox: 'none' }
    try {
      recipe.launch({ launch: kind, cwd: '/x', policy, options: {}, epoch: 1 })
      return policy
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: 'unsupported_option' })
    }
  }
  throw new Error(`${kind} ${agent} takes no policy`)
}

function recipeOf(agent: string, kind: LaunchKind): LaunchRecipe {
  const recipe = agents.find(({ id }) => id === agent)?.launches[kind]
  if (!recipe) throw new Error(`there is no ${kind} ${agent}`)
  return recipe
}

/** What would be started for a session; the refusal where there would be none. */
async function launchOf(
  agent: string,
  kind: LaunchKind,
  wish: Partial<NewSession>,
): Promise<Launch | MainstemError> {
  const home = house()
  const policy = wish.policy ?? policyOf(agent, kind)
  const request = { agent, launch: kind, cwd: '/x', ...wish, policy }
  try {
    await home.sessions.create(request)
  } catch (thrown) {
    if (thrown instanceof MainstemError) return thrown
    throw thrown
  } finally {
    expect(home.driver.runs).toEqual([])
  }
  const { cwd, options = {}, resume } = request
  const prompt = { text: '', images: options.images ?? [] }
  const start = {
    launch: kind,
    cwd,
    policy,
    options,
    epoch: 1,
    prompt,
    ...(resume !== undefined && { resume }),
  }
  const launch = recipeOf(agent, kind).launch(start)
  // What the child gets besides; the driver adds it.
  return 'env' in launch ? { ...launch, env: { ...launch.env, ...options.env } } : launch
}

const filesOf = (launch: Launch) => ('files' in launch ? (launch.files ?? []).map(({ name }) => name) : [])

/** The words of a launch, with its own files where the driver would put them. */
function wordsOf(launch: Launch, words: readonly string[]): readonly string[] {
  const names = ['.', ...filesOf(launch)]
  return words.map((word) => names.reduce((text, name) => text.replace(filePath(name), `/${name}`), word))
}

const argvOf = (launch: Launch): readonly string[] => ('argv' in launch ? wordsOf(launch, launch.argv) : [])
function envOf(launch: Launch): Readonly<Record<string, string>> {
  if (!('env' in launch)) return {}
  const values = wordsOf(launch, Object.values(launch.env))
  return Object.fromEntries(Object.keys(launch.env).map((name, index) => [name, values[index] ?? '']))
}
const bytes = (text: string) => Buffer.byteLength(text) + 1

/** Is the argument that differs still the value of the same flag? */
function isValue(argv: readonly string[], index: number, harmless: string): boolean {
  const argument = argv[index] ?? ''
  const [flag] = /^--[a-z][A-Za-z-]*=/.exec(harmless) ?? []
  return flag === undefined ? !argument.startsWith('-') : argument.startsWith(flag)
}

function check(harmless: Launch | MainstemError, given: Launch | MainstemError): void {
  if (given instanceof MainstemError) return
  // Nothing is taken in a hostile form that is refused in a harmless one.
  if (harmless instanceof MainstemError)
    throw new Error(`taken, but refused when harmless: ${harmless.message}`)
  expect(given.kind).toBe(harmless.kind)
  const argv = argvOf(given)
  const before = argvOf(harmless)
  expect(argv).toHaveLength(before.length)
  const foreign = argv.filter((argument, index) => {
    const expected = before[index] ?? ''
    return argument !== expected && !isValue(argv, index, expected)
  })
  expect(foreign).toEqual([])
  expect(argv[0]).toBe(before[0])
  expect(filesOf(given)).toEqual(filesOf(harmless))
  expect(Object.keys(envOf(given))).toHaveLength(Object.keys(envOf(harmless)).length)
  const texts = [...argv, ...Object.entries(envOf(given)).map(([name, value]) => `${name}=${value}`)]
  expect(texts.filter((text) => text.includes('\0') || bytes(text) > LONGEST)).toEqual([])
}

describe.each(LAUNCHES)('%s %s', (agent, kind) => {
  test('starts at all, so that there is something to attack', async () => {
    expect(await launchOf(agent, kind, {})).not.toBeInstanceOf(MainstemError)
  })

  test.each(Object.entries(FIELDS))(
    '%s never becomes a separate argument',
    async (_, { harmless, build }) => {
      const expected = await launchOf(agent, kind, build(harmless))
      for (const value of TRIED) check(expected, await launchOf(agent, kind, build(value)))
      const property = fc.asyncProperty(hostile, async (value) =>
        check(expected, await launchOf(agent, kind, build(value))),
      )
      await fc.assert(property, { numRuns: runs(3, 20) })
    },
  )
})

test('every field reaches the command line, the environment or a file of some launch', async () => {
  const reached = new Set<string>()
  for (const [name, { harmless, build }] of Object.entries(FIELDS)) {
    for (const [agent, kind] of LAUNCHES) {
      const plain = await launchOf(agent, kind, {})
      const given = await launchOf(agent, kind, build(harmless))
      if (!(given instanceof MainstemError) && JSON.stringify(given) !== JSON.stringify(plain))
        reached.add(name)
    }
  }
  // The directory is the driver's to set.
  expect([...reached]).toEqual(Object.keys(FIELDS).filter((name) => name !== 'cwd'))
})
