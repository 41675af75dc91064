import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callerKeys } from '../../../src/cli/daemon/caller-keys.ts'
import { Home } from '../mainstem-process.ts'

const KEY = 'sk-ant-set-later-0123456789abcdef'

test('a key that is set after the background server was started reaches the agent, and no file of the server', async () => {
  await using home = Home.withAskingAgent()
  await home.mainstem(['run', 'claude', 'key'])
  home.env.ANTHROPIC_API_KEY = KEY
  const { out } = await home.mainstem(['run', 'claude', 'key', '--name', 'keyed'])
  expect(out).not.toContain(KEY)
  delete home.env.ANTHROPIC_API_KEY
  // The session keeps the key; a session of a terminal without one does not have it.
  await home.mainstem(['send', 'keyed', 'key'])
  await home.mainstem(['run', 'claude', 'key'])
  expect(readFileSync(join(home.path, 'key.txt'), 'utf8')).toBe(`none\n${KEY}\n${KEY}\nnone\n`)
  // While its process lives, the folder of the run has what the process has.
  await home.mainstem(['stop', 'keyed', '--end'])
  expect(filesWith(home.data, KEY)).toEqual([])
})

test('a key that is set later reaches a session that began without one, and a later one replaces it', async () => {
  await using home = Home.withAskingAgent()
  await home.mainstem(['run', 'claude', 'key', '--name', 'unkeyed'])
  home.env.ANTHROPIC_API_KEY = KEY
  await home.mainstem(['run', 'claude', 'key', '--continue'])
  home.env.ANTHROPIC_API_KEY = `${KEY}-2`
  await home.mainstem(['send', 'unkeyed', 'key'])
  expect(readFileSync(join(home.path, 'key.txt'), 'utf8')).toBe(`none\n${KEY}\n${KEY}-2\n`)
  await home.mainstem(['stop', 'unkeyed', '--end'])
  expect(filesWith(home.data, KEY)).toEqual([])
})

const info = {
  ...{
    version: '1',
    pid: 1,
    principal: 'owner',
    roles: [],
    authentication: true,
    cwd: '/',
    roots: [],
    now: 0,
  },
  variables: { claude: ['ANTHROPIC_*', 'CLAUDE_CONFIG_DIR'] },
}
const environment = { ANTHROPIC_API_KEY: 'a', CLAUDE_CONFIG_DIR: 'b', OPENAI_API_KEY: 'c', ANTHROPIC: 'd' }

test('only the variables that the agent would get from the server are passed', () => {
  expect(callerKeys({ info }, 'claude', environment)).toEqual({
    ANTHROPIC_API_KEY: 'a',
    CLAUDE_CONFIG_DIR: 'b',
  })
  expect(callerKeys({ info }, 'codex', environment)).toBeUndefined()
})

test('a server on another machine gets no variable', () => {
  const remote = { server: 'https://agents.example.com', token: 't', principal: 'p' }
  expect(callerKeys({ info, remote: { ...remote, name: 'there' } }, 'claude', environment)).toBeUndefined()
})

/** The files below a folder that contain a text. Sockets and named pipes cannot be read. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path, 'latin1').includes(text))
}
