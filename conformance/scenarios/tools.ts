import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { limitOf } from '../limits/index.ts'
import type { Scenario } from '../scenario.ts'
import { BIG_OUTPUT } from '../scripts.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from '../stage.ts'
import { completes } from './text.ts'

const ECHO_SERVER = resolve(import.meta.dirname, '../fixtures/echo-server.mjs')

/** A call of the main thread that ended with this status. */
function called({ events }: FinishedTurn, status: string) {
  const calls = eventsOf(events, 'tool.completed').filter(({ parent }) => parent === undefined)
  const call = calls.find((one) => one.status === status)
  must(call !== undefined, `the calls are ${JSON.stringify(calls.map((one) => [one.name, one.status]))}`)
  return call
}

/** Changes `beta` to `gamma` in a file of two lines. */
async function edits(stage: Stage): Promise<FinishedTurn> {
  const path = join(stage.cwd, 'old.txt')
  await writeFile(path, 'alpha\nbeta\n')
  const told = await stage.turn(await stage.session(), 'edit')
  completes(told, 'The file is changed.')
  must((await readFile(path, 'utf8')) === 'alpha\ngamma\n', 'the file was not changed')
  return told
}

/** One change of this file is reported, by its absolute path, and none of another file. */
function mustChange({ events }: FinishedTurn, path: string, change: string) {
  const changes = eventsOf(events, 'file.changed')
  const [only] = changes
  const isExact = changes.length === 1 && only?.path === path && only.change === change
  must(isExact, `the changes are ${JSON.stringify(changes.map((one) => [one.path, one.change]))}`)
  const started = eventsOf(events, 'tool.started').map(({ toolId }) => toolId)
  const { toolId } = only
  must(toolId === undefined || started.includes(toolId), `the change names the unknown call ${toolId}`)
  return only
}

/** Calls of one model answer: each ends once, with its own output and its own status. */
function mustKeepCallsApart({ events }: FinishedTurn, hasOutput: boolean): void {
  const started = eventsOf(events, 'tool.started').filter(({ parent }) => parent === undefined)
  const ended = eventsOf(events, 'tool.completed')
  const ends = started.map(({ toolId, title, input }) => {
    const matching = ended.filter((one) => one.toolId === toolId)
    must(matching.length === 1, `call ${toolId} ended ${matching.length} times`)
    return { asked: JSON.stringify([title, input]), end: matching[0] }
  })
  must(new Set(started.map(({ toolId }) => toolId)).size === 3, `${started.length} calls started`)
  for (const output of ['first-output', 'second-output']) {
    const call = ends.find(({ asked }) => asked.includes(output))
    must(call?.end?.status === 'success', `the call for ${output} ended with ${call?.end?.status}`)
    const isOwn = !hasOutput || call.end.output?.trim() === output
    must(isOwn, `the output of ${output} is ${JSON.stringify(call.end.output)}`)
  }
  const failed = ends.find(({ asked }) => asked.includes('missing.txt'))?.end
  const isFailure = failed?.status === 'error' || (failed?.exitCode ?? 0) !== 0
  must(isFailure, `the failing call ended with ${failed?.status}`)
}

/** All lines, or a part that is marked as cut and whose lines are in their order. */
function mustBeBigOutput({ output = '', truncated, blob }: ReturnType<typeof called>): void {
  must(output !== '', 'the output is empty')
  const { first, last } = BIG_OUTPUT
  const lines = Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
  if (output.trimEnd() === lines.join('\n')) return
  // The line at a cut may be cut itself.
  const kept = output.split(/\r?\n/).filter((line) => /^\d{6}$/.test(line))
  const isOrdered = kept.every((line, index) => index === 0 || line > (kept[index - 1] ?? ''))
  const ends = [kept[0] === lines[0], kept.at(-1) === lines.at(-1)]
  must(
    isOrdered && ends.includes(true),
    `the lines ${kept[0]} to ${kept.at(-1)} are not a part of the output`,
  )
  const isMarked = truncated === true || blob !== undefined
  must(isMarked, `${kept.length} of ${lines.length} lines are not marked as truncated`)
  must(kept.length > 100, `${kept.length} lines of the output are intact`)
}

export const TOOLS: readonly Scenario[] = [
  {
    id: 'shell',
    title: 'Run a command',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'shell')
      completes(told, 'The command succeeded.')
      const { kind } = called(told, 'success')
      must(kind === 'execute', `the kind of the call is ${kind}`)
    },
  },
  {
    id: 'output',
    title: 'Command output',
    async play(stage) {
      const { output } = called(await stage.turn(await stage.session(), 'shell'), 'success')
      // In either order: they come by two pipes.
      const lines = output?.trim().split(/\s+/).sort().join(' ')
      must(lines === 'one two', `the output is ${JSON.stringify(output)}`)
    },
  },
  {
    id: 'unicode-output',
    title: 'Unicode in command output',
    async play(stage) {
      const { output } = called(await stage.turn(await stage.session(), 'unicode'), 'success')
      must(output?.trimEnd() === 'héllo 🚀 \ufffd\ufffd bytes', `the output is ${JSON.stringify(output)}`)
    },
  },
  {
    id: 'big-output',
    title: 'One megabyte of command output',
    async play(stage) {
      const session = await stage.session()
      const told = await stage.turn(session, 'big-lines')
      completes(told, 'That was a lot.')
      mustBeBigOutput(called(told, 'success'))
      completes(await stage.turn(session, 'shell'), 'The command succeeded.')
    },
  },
  {
    id: 'shell-fails',
    title: 'Failing commands',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'shell-fails')
      completes(told, 'The command failed with 3.')
      const call = eventsOf(told.events, 'tool.completed')[0]
      must(call?.status === 'error' || call?.exitCode === 3, `its status is ${call?.status}`)
    },
  },
  {
    id: 'parallel-tools',
    title: 'Parallel tool calls',
    inShort: 'Parallel tool calls',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'parallel-tools')
      completes(told, 'All calls ended.')
      // Programs that report no output are checked by their statuses alone.
      mustKeepCallsApart(told, limitOf(stage.program.id, stage.launch, 'output') === undefined)
    },
  },
  {
    id: 'write',
    title: 'Create a file',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'write')
      completes(told, 'The file is written.')
      const path = join(stage.cwd, 'hello.txt')
      const isWritten = existsSync(path) && (await readFile(path, 'utf8')) === 'alpha\nbeta\n'
      must(isWritten, 'the file was not written')
      const { kind } = called(told, 'success')
      must(kind === 'edit', `the kind of the call is ${kind}`)
      const { after } = mustChange(told, path, 'created')
      must((after ?? 'alpha\nbeta\n') === 'alpha\nbeta\n', `its new text is ${JSON.stringify(after)}`)
    },
  },
  {
    id: 'edit',
    title: 'Edit a file',
    async play(stage) {
      mustChange(await edits(stage), join(stage.cwd, 'old.txt'), 'modified')
    },
  },
  {
    id: 'diffs',
    title: 'File diffs',
    inShort: 'File diffs',
    capability: 'diffs',
    async play(stage) {
      const [change] = eventsOf((await edits(stage)).events, 'file.changed')
      const { diff, before, after } = change ?? {}
      must(diff !== undefined || after !== undefined, `the change is ${change?.change} without a diff`)
      const isDiff = diff !== undefined && /^-beta$/m.test(diff) && /^\+gamma$/m.test(diff)
      const isPair = before?.includes('beta') === true && after?.includes('gamma') === true
      must(isDiff || isPair, `the diff is ${JSON.stringify(change)}`)
    },
  },
  {
    id: 'plan',
    title: 'To-do lists',
    inShort: 'To-do lists',
    capability: 'plans',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'plan')
      completes(told, 'The plan is under way.')
      const items = eventsOf(told.events, 'plan.updated').at(-1)?.items ?? []
      const list = items.map(({ text, status }) => `${text}: ${status}`).join(', ')
      // Not every program separates the current item from those that follow.
      const wanted = /^Look at the code: completed, Change it: (?:in_progress|pending), Test it: pending$/
      must(wanted.test(list), `the list is ${JSON.stringify(items)}`)
    },
  },
  {
    id: 'mcp',
    title: 'MCP tool calls',
    inShort: 'MCP servers',
    capability: 'mcp',
    async play(stage) {
      const mcpServers = { demo: { command: process.execPath, args: [ECHO_SERVER] } }
      const told = await stage.turn(await stage.session({ options: { mcpServers } }), 'mcp')
      completes(told, 'The server answered.')
      called(told, 'success')
      must(stage.asked.includes('echo: hello'), 'the model did not receive the result')
    },
  },
]
