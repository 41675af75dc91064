import { existsSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Event } from '../../src/index.ts'
import { limitOf } from '../limits/index.ts'
import type { Scenario } from '../scenario.ts'
import { BIG_OUTPUT, HUGE_OUTPUT, TOUCHED } from '../scripts.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from '../stage.ts'
import { processesIn, processesOf } from '../traces.ts'
import { completes } from './text.ts'

const ECHO_SERVER = resolve(import.meta.dirname, '../fixtures/echo-server.mjs')
const DEMO = { demo: { command: process.execPath, args: [ECHO_SERVER] } }

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
  mustBeKinds(told, ['read', 'edit'])
  must((await readFile(path, 'utf8')) === 'alpha\ngamma\n', 'the file was not changed')
  return told
}

/** The calls of the main thread are of these kinds. Codex reads with a command. */
function mustBeKinds({ events }: FinishedTurn, kinds: readonly string[]): void {
  const calls = eventsOf(events, 'tool.completed').filter(({ parent }) => parent === undefined)
  const found = calls.map(({ kind, name }) => `${kind} (${name})`)
  const isKind = (kind: string, index: number) =>
    calls[index]?.kind === kind || (kind === 'read' && calls[index]?.kind === 'execute')
  must(calls.length === kinds.length && kinds.every(isKind), `the kinds of the calls are ${found.join(', ')}`)
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
function mustKeepCallsApart(told: FinishedTurn, hasOutput: boolean): void {
  const { events } = told
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
  const kinds = new Set(ends.map(({ asked, end }) => `${asked.includes('-output')} ${end?.kind}`))
  const isRight = [...kinds].every((kind) => ['true execute', 'false read', 'false execute'].includes(kind))
  must(isRight, `the kinds of the calls are ${[...kinds].join(', ')}`)
  const failed = ends.find(({ asked }) => asked.includes('missing.txt'))?.end
  const isFailure = failed?.status === 'error' || (failed?.exitCode ?? 0) !== 0
  must(isFailure, `the failing call ended with ${failed?.status}`)
}

/** All lines, or a part that is marked as cut and whose lines are in their order. */
function mustBeLines(
  { output = '', truncated, blob }: ReturnType<typeof called>,
  { first, last }: typeof BIG_OUTPUT,
): void {
  must(output !== '', 'the output is empty')
  const lines = Array.from({ length: last - first + 1 }, (_, index) => String(first + index))
  if (output.trimEnd() === lines.join('\n')) return
  // The line at a cut may be cut itself.
  const digits = String(first).length
  const kept = output.split(/\r?\n/).filter((line) => line.length === digits && /^\d+$/.test(line))
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
    effect: 'the command wrote its file, and the model received its output; kind `execute`',
    inCi: true,
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'touches')
      completes(told, 'It was asked to run.')
      const { kind } = called(told, 'success')
      must(kind === 'execute', `the kind of the call is ${kind}`)
      must(existsSync(join(stage.cwd, 'ran.txt')), 'the command did not run')
      must(stage.asked.includes(TOUCHED), 'the model did not receive the output')
    },
  },
  {
    id: 'output',
    title: 'Command output',
    effect: 'what the command wrote to both streams',
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
    effect: 'every byte of the command, as characters',
    async play(stage) {
      const { output } = called(await stage.turn(await stage.session(), 'unicode'), 'success')
      must(output?.trimEnd() === 'héllo 🚀 \ufffd\ufffd bytes', `the output is ${JSON.stringify(output)}`)
    },
  },
  {
    id: 'big-output',
    title: 'One megabyte of command output',
    effect: 'every line, or a part that is marked as truncated',
    async play(stage) {
      const session = await stage.session()
      const told = await stage.turn(session, 'big-lines')
      completes(told, 'That was a lot.')
      mustBeLines(called(told, 'success'), BIG_OUTPUT)
      completes(await stage.turn(session, 'shell'), 'The command succeeded.')
    },
  },
  {
    id: 'huge-output',
    title: 'Five megabytes of command output',
    effect: 'every line, or a part that is marked as truncated',
    async play(stage) {
      const told = await stage.turn(await stage.session(), 'huge-lines')
      completes(told, 'That was a lot.')
      mustBeLines(called(told, 'success'), HUGE_OUTPUT)
    },
  },
  {
    id: 'shell-fails',
    title: 'Failing commands',
    effect: 'the exit code, and no success',
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
    effect: 'each call has its own output, status and kind',
    inShort: 'Parallel tool calls',
    inCi: true,
    async play(stage) {
      let started = 0
      // The first call ends when all are open: their results would otherwise never meet.
      const during = ({ type }: Event) => {
        if (type === 'tool.started' && ++started === 3) writeFileSync(join(stage.cwd, 'go'), '')
      }
      const told = await stage.turn(await stage.session(), 'parallel-tools', { during })
      completes(told, 'All calls ended.')
      // Programs that report no output are checked by their statuses alone.
      mustKeepCallsApart(told, limitOf(stage.program.id, stage.launch, 'output') === undefined)
    },
  },
  {
    id: 'write',
    title: 'Create a file',
    effect: 'the content of the file; kind `edit`',
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
    effect: 'the content of the file; kinds `read` and `edit`',
    async play(stage) {
      mustChange(await edits(stage), join(stage.cwd, 'old.txt'), 'modified')
    },
  },
  {
    id: 'diffs',
    title: 'File diffs',
    effect: 'the lines that changed, and the content of the file',
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
    effect: 'the items and their status',
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
    effect: 'the model received the result; kind `mcp` with its server and tool',
    inShort: 'MCP servers',
    capability: 'mcp',
    async play(stage) {
      const told = await stage.turn(await stage.session({ options: { mcpServers: DEMO } }), 'mcp')
      completes(told, 'The server answered.')
      const { kind, name } = called(told, 'success')
      must(kind === 'mcp', `the kind of the call ${name} is ${kind}`)
      must(name.includes('demo') && name.includes('echo'), `the name of the call is ${name}`)
      must(stage.asked.includes('echo: hello'), 'the model did not receive the result')
    },
  },
  {
    id: 'mcp-killed',
    title: 'MCP server killed between two calls',
    effect: 'the status of the call is that of what the model received',
    async play(stage) {
      const session = await stage.session({ options: { mcpServers: DEMO } })
      completes(await stage.turn(session, 'mcp'), 'The server answered.')
      // Some programs start servers without the variable that marks their own processes.
      const processes = [...processesOf(stage.cell), ...processesIn(stage.cwd)]
      const servers = processes.filter(({ command }) => command.endsWith(ECHO_SERVER))
      must(servers.length > 0 || stage.launch === 'oneshot', 'the server is not running')
      for (const pid of new Set(servers.map((one) => one.pid))) process.kill(pid, 'SIGKILL')
      const before = stage.model.requests.length
      const told = await stage.turn(session, 'mcp')
      const [call] = eventsOf(told.events, 'tool.completed')
      // Some programs remove the tools of a server that has ended.
      const isRemoved = told.outcome === 'completed' && told.text.startsWith('[no tool to mcp among ')
      if (isRemoved) return must(call === undefined, `a tool that was removed is ${call?.status}`)
      completes(told, 'The server answered.')
      const last = stage.model.requests.slice(before).findLast(({ place }) => place?.scenario === 'mcp')
      // Earlier turns have an answer as well.
      const answers = JSON.stringify(last?.body ?? '').split('echo: hello').length - 1
      const status = answers > 1 ? 'success' : 'error'
      must(call?.status === status, `the call is ${call?.status}, and the model received ${answers} answers`)
    },
  },
]
