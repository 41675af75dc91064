import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Entry } from '../../../src/model/index.ts'
import { Home } from '../mainstem-process.ts'

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())

/** The processes that said in the log that they listen. */
const listeners = () =>
  readFileSync(join(home.path, 'data', 'daemon.log'), 'utf8').match(/listening on .*/g) ?? []

describe('the daemon of the command line', () => {
  test('is started once by commands that start at the same time', async () => {
    const runs = await Promise.all(
      ['one', 'two', 'three'].map((word) => home.mainstem(['run', 'echo', word])),
    )
    expect(runs.map(({ out }) => out)).toEqual(['one\n', 'two\n', 'three\n'])
    expect(listeners()).toHaveLength(1)
  })

  test('listens on a socket that only its user can open', () => {
    expect(statSync(join(home.path, 'data', 'daemon.sock')).mode & 0o777).toBe(0o600)
  })

  test('keeps sessions, which are found by beginning of id, by name, and as the last', async () => {
    const { out } = await home.mainstem(['run', 'echo', 'hello', '--detach', '--name', 'greeting'])
    const id = out.trim()
    expect((await home.mainstem(['wait', id.slice(0, 8)])).out).toBe('completed\n')
    for (const ref of [id, id.slice(0, 6), 'greeting', 'last'])
      expect((await home.mainstem(['attach', ref])).out, ref).toBe('hello\n')
    const { out: listed } = await home.mainstem(['ls', '--json'])
    expect(JSON.parse(listed.split('\n')[0] ?? '')).toMatchObject({ id, name: 'greeting' })
  })

  test('suggests the name that was meant', async () => {
    const { code, err } = await home.mainstem(['attach', 'greetnig'])
    expect(err).toContain('there is no session "greetnig" (session_not_found)\nDid you mean "greeting"?')
    expect(code).toBe(4)
  })

  test('continues a session, by name and in the directory', async () => {
    expect((await home.mainstem(['send', 'greeting', 'again'])).out).toBe('again\n')
    const detached = await home.mainstem(['send', 'greeting', 'later', '--detach'])
    expect(detached).toEqual({ code: 0, out: '', err: 'watch it: mainstem attach greeting\n' })
    await home.mainstem(['wait', 'greeting'])
    expect((await home.mainstem(['run', 'echo', 'more', '--continue'])).out).toBe('more\n')
    expect((await home.mainstem(['run', 'echo', 'most', '--resume', 'greeting'])).out).toBe('most\n')
    const { out } = await home.mainstem(['logs', 'greeting', '--json'])
    const entries = out
      .trim()
      .split('\n')
      .map((line) => Entry.parse(JSON.parse(line)))
    expect(entries.filter(({ event }) => event.type === 'turn.completed')).toHaveLength(5)
    const raw = (await home.mainstem(['logs', 'greeting', '--raw'])).out.trim().split('\n')
    const sent = raw.filter((line) => line.startsWith('> ')).map((line) => JSON.parse(line.slice(2)))
    expect(sent.filter(({ command }) => command?.type === 'prompt')).toHaveLength(5)
    const written = raw.filter((line) => !line.startsWith('> ')).map((line) => JSON.parse(line))
    expect(written.length).toBeGreaterThanOrEqual(5)
    expect((await home.mainstem(['logs', 'greeting', '--raw', '--since', '2999-01-01'])).out).toBe('')
    expect((await home.mainstem(['logs', 'greeting', '--raw', '--since', '1h'])).out).toContain('most')
  })

  test('continues a turn after it was killed', async () => {
    await home.mainstem(['run', 'claude', 'work', '--detach', '--name', 'cut'])
    process.kill(await home.daemonPid(), 'SIGKILL')
    // In a process of its own, which has no open connection to the server that was killed.
    expect((await home.spawned(['logs', 'cut', '--json'])).out).toContain('"reattached"')
    expect((await home.mainstem(['stop', 'cut', '--end'])).out).toContain('cut ended')
    expect(listeners()).toHaveLength(2)
  })

  test('is replaced by a restart, and its turns continue', async () => {
    await home.mainstem(['run', 'claude', 'work', '--detach', '--name', 'kept'])
    const before = await home.daemonPid()
    const { code, out } = await home.spawned(['restart'])
    expect(out).toMatch(/^restarted: version .*, process \d+\n$/)
    expect(code).toBe(0)
    expect(await home.daemonPid()).not.toBe(before)
    const { out: log } = await home.spawned(['logs', 'kept', '--json'])
    expect(log).toContain('"reattached"')
    expect(log).not.toContain('"turn.completed"')
    await home.mainstem(['rm', 'kept'])
  })

  test('removes a session, and nothing where one word is wrong', async () => {
    expect((await home.mainstem(['rm', 'cut', 'nonsense'])).code).toBe(4)
    expect((await home.mainstem(['rm', 'cut'])).out).toBe('removed cut\n')
    expect((await home.mainstem(['logs', 'cut'])).code).toBe(4)
  })

  test('stops, and is started again by the next command', async () => {
    expect((await home.mainstem(['daemon', 'stop'])).out).toBe('stopped\n')
    expect(await home.mainstem(['daemon'])).toMatchObject({ code: 4, out: 'no daemon runs\n' })
    expect((await home.mainstem(['attach', 'greeting'])).out).toBe('most\n')
  })
})

describe('stored data', () => {
  test('is exported, removed and imported again, as it was', async () => {
    const { out: id } = await home.mainstem(['run', 'echo', 'travels', '--detach', '--name', 'traveller'])
    await home.mainstem(['wait', 'traveller'])
    await home.mainstem(['stop', 'traveller', '--end'])
    const { out: exported } = await home.mainstem(['export', 'traveller'])
    await home.mainstem(['rm', 'traveller'])
    expect(await home.mainstem(['import', '-'], exported)).toMatchObject({ code: 0, out: id })
    expect((await home.mainstem(['export', 'traveller'])).out).toBe(exported)
    expect((await home.mainstem(['attach', 'traveller'])).out).toBe('travels\n')
    const file = join(home.path, 'damaged.ndjson')
    writeFileSync(file, exported.replace('"travels"', '"trivial"'))
    const refused = await home.mainstem(['import', file])
    expect(refused.err).toMatch(/damaged\.ndjson: line \d+: the lines before do not match the checksum/)
    expect(refused.code).toBe(2)
  })

  test('is exported whole as lines, and readable as Markdown and HTML', async () => {
    const { out: lines } = await home.mainstem(['export', 'greeting'])
    expect(lines).toMatch(/^\{"record":/)
    expect(lines).toMatch(/\{"end":\{"entries":\d+,"frames":\d+,"sha256":"\w+"\}\}\n$/)
    expect((await home.mainstem(['export', 'greeting', '--format', 'md'])).out).toContain(
      '> hello\n\nhello\n',
    )
    expect((await home.mainstem(['export', 'greeting', '--format', 'html'])).out).toContain(
      '<pre>hello</pre>',
    )
  })

  test('is replayed and counted', async () => {
    const replayed = await home.mainstem(['replay', 'greeting', '--speed', '1000'])
    expect(replayed.out).toContain('✔ completed')
    expect((await home.mainstem(['usage'])).out).toMatch(/^total .*sessions/m)
  })

  test('is opened in a browser on the port of the daemon', async () => {
    const { out } = await home.mainstem(['open', '--print'])
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=\S+\n$/)
  })

  test('the configuration is shown', async () => {
    const { out } = await home.mainstem(['config', 'show'])
    expect(out).toContain(`data: ${JSON.stringify(join(home.path, 'data'))}`)
  })
})

test('the configuration is shown without passwords and values of variables', async () => {
  const file = join(home.path, 'shown.json')
  const url = 'postgres://mainstem:pa55-one@db/mainstem?sslpassword=%70a55-two'
  const store = { url, listenUrl: 'postgres://mainstem:pa55-three@db/mainstem' }
  const agents = { claude: { env: { SOME_NAME: 'pa55-four' } } }
  writeFileSync(file, JSON.stringify({ store, agents }))
  const { out, err, code } = await home.mainstem(['config', 'show', '--config', file])
  expect([code, out]).toEqual([0, expect.stringContaining('SOME_NAME')])
  expect(out).toContain('postgres://mainstem')
  expect(out + err).not.toContain('a55-')
})

test('the background server writes its access log to its own log', async () => {
  await using own = new Home()
  mkdirSync(own.data, { mode: 0o700 })
  writeFileSync(join(own.data, 'config.json'), JSON.stringify({ accessLog: true }))
  await own.mainstem(['ls'])
  expect(readFileSync(join(own.data, 'daemon.log'), 'utf8')).toContain(
    '"path":"/v1/sessions","principal":"local","status":200',
  )
})

describe('requests', () => {
  beforeAll(async () => {
    await home.mainstem(['run', 'claude', 'permission', '--detach', '--name', 'asking'])
  })

  const untilAsking = async () =>
    expect
      .poll(async () => (await home.mainstem(['requests', '--json'])).out, { timeout: 60_000 })
      .not.toBe('')

  test('are listed in full and denied with a reason from another terminal', async () => {
    await untilAsking()
    const { out } = await home.mainstem(['requests'])
    expect(out).toMatch(/^\? Permission/)
    expect(out).toContain('mainstem requests allow | deny')
    const waited = await home.mainstem(['wait', 'asking', '--timeout', '0.1'])
    expect(waited.err).toContain('session asking waits for an answer: mainstem attach asking\n')
    const denied = await home.mainstem(['requests', 'deny', 'asking', '--reason', 'not today'])
    expect(denied.out).toMatch(/^denied /)
    const { out: log } = await home.mainstem(['logs', 'asking', '--json'])
    expect(log).toContain('"message":"not today"')
    expect((await home.mainstem(['logs', 'asking'])).out).toContain(
      '→ denied, by local (terminal): not today\n',
    )
  })

  test('that do not exist are refused', async () => {
    const { code, err } = await home.mainstem(['requests', 'allow', 'nonsense'])
    expect(err).toContain('there is no request "nonsense"')
    expect(code).toBe(4)
  })
})

test('a broken configuration stops the start, and its path is named', async () => {
  await using broken = new Home()
  await broken.mainstem(['daemon'])
  writeFileSync(join(broken.path, 'config.json'), '{ "port": "no" }')
  const { code, err } = await broken.mainstem(['ls', '--config', join(broken.path, 'config.json')])
  expect(err).toContain(join(broken.path, 'config.json'))
  expect(code).toBe(2)
})
