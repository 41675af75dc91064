import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { commandLine } from '../../../src/cli/program.ts'
import { Home } from '../mainstem-process.ts'
import { CTRL_C, DOWN, ENTER, PseudoTerminal } from './pseudo-terminal.ts'

const CTRL_D = '\x04'
const RECORDING = join(
  import.meta.dirname,
  '../../../src/agents/claude/fixtures/claude/two_tools/stdout.jsonl',
)

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())

function terminal(args: readonly string[]): PseudoTerminal {
  return PseudoTerminal.mainstem(args, { cwd: home.path, env: home.env })
}

/** The command prints this and ends. */
const prints =
  (args: readonly string[], expected: string | RegExp): (() => Promise<void>) =>
  async () => {
    await using shown = terminal(args)
    expect(await shown.exited, shown.text).toBe(0)
    expect(shown.text).toMatch(expected)
  }

/** The command refuses this, with this code. */
const refuses =
  (args: readonly string[], code: number, expected: string | RegExp): (() => Promise<void>) =>
  async () => {
    await using shown = terminal(args)
    expect(await shown.exited, shown.text).toBe(code)
    expect(shown.text).toMatch(expected)
  }

/** Begins a session that asks, and returns the reference of its request. */
async function asking(scene: string, name: string): Promise<string> {
  const { out } = await home.mainstem(['run', 'claude', scene, '--detach', '--name', name])
  const listed = async () =>
    (await home.mainstem(['requests', '--json'])).out.split('\n').find((line) => line.includes(out.trim()))
  await expect.poll(listed).toBeDefined()
  return JSON.parse((await listed()) ?? '').reference
}

/** The agent asks in a session without a terminal, and the command closes the request by its reference. */
const closes =
  (scene: string, [action = '', name = '', ...rest]: readonly string[], expected: RegExp, answer: string) =>
  async () => {
    await prints(['requests', action, await asking(scene, name), ...rest], expected)()
    expect((await home.mainstem(['attach', name])).out).toContain(answer)
  }

/** Named by its session, a request is shown whole before a key allows it. Without a terminal it stays open. */
async function allowsWhatItShows(): Promise<void> {
  const reference = await asking('permission', 'one')
  const unseen = await home.mainstem(['requests', 'allow', 'one'])
  expect(unseen.err).toContain(`its reference is ${reference}`)
  expect(unseen.code).toBe(2)
  await using shown = terminal(['requests', 'allow', 'one'])
  await shown.shows('rm -rf build && npm run build -- --all-of-it')
  await shown.shows('y allow once')
  shown.press('y')
  expect(await shown.exited, shown.text).toBe(0)
  expect(shown.text).toMatch(/^allowed \S+call_/m)
  expect((await home.mainstem(['attach', 'one'])).out).toContain('I was allowed "Bash"')
  const late = await home.mainstem(['requests', 'allow', reference])
  expect(late.err).toContain(`there is no open request ${reference}`)
  await closes('permission', ['allow', 'four'], /^allowed \S+call_/m, 'I was allowed "Bash"')()
}

async function imports(): Promise<void> {
  const { out } = await home.mainstem(['export', 'greeting'])
  writeFileSync(join(home.path, 'greeting.ndjson'), out)
  await home.mainstem(['rm', 'greeting'])
  await prints(['import', 'greeting.ndjson'], /^[0-9a-f-]{36}\nimported \d+ entries: mainstem logs /m)()
}

async function demo(): Promise<void> {
  await using shown = terminal(['demo', '--fast'])
  await shown.shows('y allow once')
  shown.press('n')
  await shown.shows('→ denied')
  await shown.shows(/● Choose with the arrow keys/)
  shown.press(DOWN)
  await shown.shows('● Show me the patch')
  shown.press(ENTER)
  await shown.exited
  expect(shown.text).toContain('✔ completed')
}

async function serve(): Promise<void> {
  await using shown = terminal(['serve', '--port', '0', '--data', join(home.path, 'served')])
  await shown.shows('page: run `mainstem open`')
  expect(shown.text).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+\ntoken in \S+\/served\/token/)
  shown.press(CTRL_C)
  expect(await shown.exited).toBe(0)
}

async function stdio(): Promise<void> {
  await using shown = terminal(['stdio', '--data', join(home.path, 'piped')])
  await shown.shows('{"protocol":"mainstem-stdio","version":1}')
  shown.press(`{"id":1,"method":"GET","path":"/v1/sessions"}\n`)
  await shown.shows('{"id":1,"status":200')
  shown.press(CTRL_D)
  expect(await shown.exited).toBe(0)
}

/** One for each command, in this order: the later ones use the sessions of the earlier. */
const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  run: prints(['run', 'echo', 'hello', '--name', 'greeting'], '✔ completed'),
  ls: prints(['ls'], /greeting +echo +idle .* hello$/m),
  attach: prints(['attach', 'greeting'], '✔ completed'),
  send: prints(['send', 'greeting', 'again'], '❯ again'),
  wait: prints(['wait', 'greeting'], 'completed'),
  logs: prints(['logs', 'greeting'], /✔ completed[\s\S]*\ncontinue: mainstem send greeting "…"/),
  rename: async () => {
    await prints(['rename', 'greeting', 'hello'], 'greeting is now hello')()
    await refuses(['rename', 'hello', 'two words'], 2, 'a name begins with a letter')()
    await prints(['rename', 'hello', ''], /^hello is now [0-9a-f]{8}/m)()
    await prints(['rename', 'last', 'greeting'], / is now greeting/)()
  },
  fork: refuses(['fork', 'greeting'], 1, 'has no conversation yet'),
  compact: prints(['compact', 'greeting'], '❯ /compact'),
  review: prints(['review', 'greeting'], '❯ /review'),
  goal: prints(['goal', 'greeting', 'all tests pass'], '❯ /goal all tests pass'),
  rewind: prints(['rewind', 'greeting', '--to', '1'], '❯ /rewind 1'),
  backup: prints(['backup', 'kept'], /^copied and verified: 1 session/m),
  'completion sessions': prints(['completion', 'sessions'], /^greeting$/m),
  login: refuses(['login', 'http://127.0.0.1:1'], 1, 'nothing listens there'),
  logins: prints(['logins'], 'nobody is logged in'),
  logout: refuses(['logout'], 2, 'needs no login'),
  'context list': prints(['context'], 'the server of this machine'),
  'context use': refuses(['context', 'use', 'nowhere'], 4, 'there is no context "nowhere"'),
  'context remove': refuses(['context', 'remove', 'nowhere'], 4, 'there is no context "nowhere"'),
  replay: prints(['replay', 'greeting', '--speed', '100'], '✔ completed'),
  export: prints(['export', 'greeting', '--format', 'md'], '## Prompt'),
  usage: prints(['usage'], /^total/m),
  audit: prints(['audit', '--action', 'prompt.sent'], /^\S+Z +local +prompt\.sent +\S+ +terminal .*turn=1/m),
  stop: prints(['stop', 'greeting', '--end'], 'greeting ended'),
  import: imports,
  rm: prints(['rm', 'greeting'], 'removed greeting'),
  'requests ls': prints(['requests'], 'no open requests'),
  'requests allow': allowsWhatItShows,
  'requests deny': closes(
    'permission',
    ['deny', 'two', '--reason', 'no'],
    /^denied \S+call_/m,
    'I was denied: no',
  ),
  'requests answer': closes('question', ['answer', 'three', 'SQLite'], /^answered \S+call_/m, '"SQLite"'),
  compare: prints(['compare', 'echo,echo', 'hi'], /^echo 2 +completed/m),
  agents: prints(['agents'], /✔ echo/),
  nodes: prints(['nodes'], 'shares its store with no other'),
  'config show': prints(['config', 'show'], 'durability'),
  doctor: prints(['doctor'], 'no problems found'),
  open: prints(['open', '--print'], /http:\/\/127\.0\.0\.1:\d+/),
  'daemon status': prints(['daemon'], /^version .*, process \d+/m),
  restart: prints(['restart'], /^restarted: version .*, process \d+/m),
  'daemon stop': prints(['daemon', 'stop'], /^stopped$/m),
  // Only a store that no process has open can be copied, so after the daemon has stopped.
  'store copy': prints(['store', 'copy', 'data', 'copied'], /copied .*sessions/),
  restore: prints(['restore', 'kept', '--data', 'restored'], /^copied and verified: 1 session/m),
  serve,
  stdio,
  'token add': prints(['token', 'add', 'ci'], /^[\w-]{43}\nThis is shown once/m),
  'token list': prints(['token', 'list'], /^ci$/m),
  'grant add': async () => {
    await home.mainstem(['token', 'add', 'bot'])
    await prints(['grant', 'add', 'bot', 'ci'], /^bot may now read the sessions of ci/m)()
  },
  'grant list': prints(['grant', 'list'], /^bot ci$/m),
  'grant remove': prints(['grant', 'remove', 'bot', 'ci'], /^bot may no longer read the sessions of ci/m),
  'webhooks add': async () => {
    await refuses(['webhooks', 'add', 'http://127.0.0.1:9/'], 2, /only https and public addresses/)()
    await prints(
      ['webhooks', 'add', 'https://hooks.invalid/a', '--name', 'ci', '--event', 'turn.completed'],
      /^wh_[0-9a-f]{32}\nwhsec_[A-Za-z0-9+/]{43}=\nThe secret is shown once/m,
    )()
  },
  'webhooks list': prints(['webhooks', 'list'], /webhook +https:\/\/hooks\.invalid\/a +turn\.completed +ci/),
  'webhooks rotate': prints(['webhooks', 'rotate', 'ci'], /^whsec_[A-Za-z0-9+/]{43}=\nBoth secrets/m),
  'webhooks test': refuses(['webhooks', 'test', 'ci'], 1, /did not accept the call/),
  'webhooks deliveries': prints(['webhooks', 'deliveries', 'ci'], /^No calls\.$/m),
  'webhooks retry': prints(['webhooks', 'retry', 'ci', '--dead'], /^0 to be called again$/m),
  'webhooks remove': prints(['webhooks', 'remove', 'ci'], /^removed wh_/m),
  'token remove': prints(['token', 'remove', 'ci'], /^removed ci$/m),
  decode: prints(['decode', '--agent', 'claude', '--stats', RECORDING], '"unmapped":0'),
  demo,
  'completion bash': prints(['completion', 'bash'], 'complete -o default -F _mainstem mainstem'),
  'completion zsh': prints(['completion', 'zsh'], '#compdef mainstem'),
  'completion fish': prints(['completion', 'fish'], 'complete -c mainstem'),
}

describe('in a terminal', () => {
  test.each(Object.entries(COMMANDS))('mainstem %s', (_, use) => use())
})

test('every command loads without the others', async () => {
  const { commands } = await commandLine()
  const names = commands.map((command) => command.name())
  const alone = await Promise.all(
    names.map(async (name) => [name, (await commandLine(name)).commands] as const),
  )
  const loadsAll = alone.filter(([, loaded]) => loaded.length === names.length).map(([name]) => name)
  expect(loadsAll).toEqual([])
})

test('every command has a test in a terminal', async () => {
  const { commands } = await commandLine()
  const actions = commands.flatMap((command) => {
    const choices = command.registeredArguments[0]?.argChoices
    return choices ? choices.map((choice) => `${command.name()} ${choice}`) : [command.name()]
  })
  expect(Object.keys(COMMANDS).sort()).toEqual(actions.sort())
})
