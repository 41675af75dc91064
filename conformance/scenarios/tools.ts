import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Scenario } from '../scenario.ts'
import { eventsOf, must, type Stage, type Told } from '../stage.ts'
import { completes } from './text.ts'

const ECHO_SERVER = resolve(import.meta.dirname, '../fixtures/echo-server.mjs')

const MIB = 1_048_576

/** The call that the script makes, which ended in this way. */
function called({ events }: Told, status: string) {
  const calls = eventsOf(events, 'tool.completed').filter(({ parent }) => parent === undefined)
  const call = calls.find((one) => one.status === status)
  must(call !== undefined, `the calls are ${JSON.stringify(calls.map((one) => [one.name, one.status]))}`)
  return call
}

/** Changes `beta` to `gamma` in a file of two lines. */
async function edits(stage: Stage): Promise<Told> {
  const path = join(stage.cwd, 'old.txt')
  await writeFile(path, 'alpha\nbeta\n')
  const told = await stage.turn(await stage.session(), 'edit')
  completes(told, 'The file is changed.')
  must((await readFile(path, 'utf8')) === 'alpha\ngamma\n', 'the file is as it was')
  return told
}

export const TOOLS: readonly Scenario[] = [
  {
    id: 'shell',
    title: 'Runs a command',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'shell')
      completes(told, 'The command succeeded.')
      must(called(told, 'success').kind === 'execute', 'the call is no command')
    },
  },
  {
    id: 'output',
    title: 'The output of a command',
    async play(stage) {
      const call = called(await stage.turn(await stage.session(), 'shell'), 'success')
      // In either order: they come by two pipes.
      const isWhole = /one/.test(call.output ?? '') && /two/.test(call.output ?? '')
      must(isWhole, `the output is ${JSON.stringify(call.output)}`)
    },
  },
  {
    id: 'shell-fails',
    title: 'A command that fails is told apart',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'shell-fails')
      completes(told, 'The command failed with 3.')
      const call = eventsOf(told.events, 'tool.completed')[0]
      must(call?.status === 'error' || call?.exitCode === 3, `its status is ${call?.status}`)
    },
  },
  {
    id: 'write',
    title: 'Writes a file',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'write')
      completes(told, 'The file is written.')
      const path = join(stage.cwd, 'hello.txt')
      must(existsSync(path) && (await readFile(path, 'utf8')) === 'alpha\nbeta\n', 'the file is not there')
      must(called(told, 'success').kind === 'edit', 'the call is no edit')
    },
  },
  {
    id: 'edit',
    title: 'Changes a file, and tells so',
    async play(stage) {
      const changes = eventsOf((await edits(stage)).events, 'file.changed')
      must(
        changes.some((one) => one.path.endsWith('old.txt') && one.change === 'modified'),
        `the changes are ${JSON.stringify(changes)}`,
      )
    },
  },
  {
    id: 'diffs',
    title: 'What was changed in a file',
    inShort: 'Diffs of files',
    capability: 'diffs',
    async play(stage) {
      const [change] = eventsOf((await edits(stage)).events, 'file.changed')
      const shown = change?.diff ?? change?.after
      must(shown?.includes('gamma') === true, `it told of a file that is ${change?.change}: ${shown}`)
    },
  },
  {
    id: 'plan',
    title: 'Its list of things to do',
    inShort: 'To-do lists',
    capability: 'plans',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'plan')
      completes(told, 'The plan is under way.')
      const items = eventsOf(told.events, 'plan.updated').at(-1)?.items ?? []
      const statuses = items.map(({ status }) => status).join(' ')
      // Not every program tells what it is at from what is still to come.
      const isList = /^completed (?:in_progress|pending) pending$/.test(statuses)
      must(isList, `the list is ${JSON.stringify(items)}`)
    },
  },
  {
    id: 'mcp',
    title: 'Calls a tool of an MCP server',
    inShort: 'MCP servers',
    capability: 'mcp',
    async play(stage) {
      const mcpServers = { demo: { command: process.execPath, args: [ECHO_SERVER] } }
      const told = await stage.turn(await stage.session({ options: { mcpServers } }), 'mcp')
      completes(told, 'The server answered.')
      called(told, 'success')
      must(stage.asked.includes('echo: hello'), 'the model did not hear what the server said')
    },
  },
  {
    id: 'subagent',
    title: 'Hands work to a sub-agent',
    inShort: 'Sub-agents',
    capability: 'subagents',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'subagent')
      completes(told, 'The sub-agent is done.')
      must(eventsOf(told.events, 'subagent.started').length === 1, 'no sub-agent was told')
      const [ended] = eventsOf(told.events, 'subagent.completed')
      must(ended?.status === 'success', `the sub-agent ended with ${ended?.status}`)
    },
  },
  {
    id: 'big-output',
    title: 'A command that writes a megabyte',
    async play(stage) {
      const session = await stage.session()
      const told = await stage.turn(session, 'big-output')
      completes(told, 'That was a lot.')
      const { output = '', truncated, blob } = called(told, 'success')
      // Cut by us or by the program, and then it says so, in a field or in words.
      const isCut = truncated === true || blob !== undefined || /too large|truncated/i.test(output)
      const isTold = output.length === 0 || output.length >= MIB || isCut
      must(isTold, `${output.length} letters of output look like all of it`)
      completes(await stage.turn(session, 'shell'), 'The command succeeded.')
    },
  },
]
