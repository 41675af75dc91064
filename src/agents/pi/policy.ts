import { MainstemError, OUTSIDE_ID, type Policy, type SessionOptions } from '../../model/index.ts'
import { compareVersions } from '../../model/version.ts'
import type { LaunchFile, Start } from '../agent.ts'
import { filePath, refuseSet, unsupported } from '../kit/option.ts'
import { nativeTools } from '../kit/tool-names.ts'
import { GATE } from './gate.ts'
import { TOOLS } from './tools.ts'

/** Flag values are separate arguments, whatever character they start with. */
function value(flag: string, given: string | undefined): string[] {
  return given === undefined ? [] : [flag, given]
}

const EXTRAS = ['powershell', 'codemode', 'tool_search']

/** Read-only tools. */
const READ_ONLY = ['read', 'grep', 'find', 'ls']

/**
 * Pi requests no approval by itself. A live process gets an extension that does; a one-shot process cannot ask, so
 * tools that would need approval are removed.
 */
export function policyArgs(policy: Policy, launch: Start['launch'], version?: string): string[] {
  const { approval, sandbox, network, writableRoots, tools } = policy
  if (sandbox === 'workspace-write') throw unsupported('pi', 'sandbox workspace-write', 'it has no sandbox')
  if (network !== undefined) throw unsupported('pi', 'network', 'it has no sandbox to enforce it')
  if (writableRoots) throw unsupported('pi', 'writableRoots', 'it has no sandbox to enforce them')
  if (approval === 'auto-edit' && sandbox === 'read-only')
    throw unsupported('pi', 'auto-edit with read-only', 'they contradict each other')
  if (approval === 'auto-edit' && launch === 'oneshot')
    throw unsupported('pi', 'approval auto-edit', 'a one-shot run edits inside and outside of the workspace')
  const gate = isGated(policy, launch) ? ['--extension', filePath(GATE.name)] : []
  const named = (option: string, names: readonly string[] | undefined) =>
    names && nativeTools(TOOLS, option, names)
  const available = withoutExtras(named('tools.available', tools?.available), tools?.available)
  named('tools.preapproved', tools?.preapproved)
  const looksOnly = sandbox === 'read-only' || (approval !== 'auto-all' && launch === 'oneshot')
  return [
    ...gate,
    ...(looksOnly ? lookingArgs(available, version) : availableArgs(available, version)),
    ...deniedArgs(named('tools.denied', tools?.denied)),
  ]
}

/** Tools that are off by default: only their name enables them, not their kind. */
function withoutExtras(
  names: readonly string[] | undefined,
  asked: readonly string[] = [],
): readonly string[] | undefined {
  return names?.filter((name) => asked.includes(name) || !EXTRAS.includes(name))
}

/** Returns whether every call requires approval. */
export function isGated({ approval }: Policy, launch: Start['launch']): boolean {
  return launch === 'live' && approval !== 'auto-all'
}

function lookingArgs(available: readonly string[] = READ_ONLY, version?: string): string[] {
  const changing = available.find((tool) => !READ_ONLY.includes(tool))
  if (changing !== undefined)
    throw unsupported(
      'pi',
      'tools.available',
      `${changing} may change files, and approval cannot be requested`,
    )
  // Extensions run arbitrary code and may add tools.
  return [...availableArgs(available, version), '--no-extensions']
}

function availableArgs(names: readonly string[] | undefined, version: string | undefined): string[] {
  if (!names) return []
  // Earlier versions have no MCP servers, and refuse to start with the flag.
  const noMcp = version !== undefined && compareVersions(version, '1.0.0') < 0 ? [] : ['--no-mcp']
  if (names.length === 0) return ['--no-tools', ...noMcp]
  // The tools of MCP servers are removed unless the list names one of them.
  const mcp = names.some((name) => name.startsWith('mcp__')) ? [] : noMcp
  return ['--tools', names.join(','), ...mcp]
}

function deniedArgs(names: readonly string[] | undefined): string[] {
  return names && names.length > 0 ? ['--exclude-tools', names.join(',')] : []
}

const REPLACED = 'system.md'
const APPENDED = 'append.md'

const EFFORTS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export function optionArgs(options: SessionOptions, launch: Start['launch']): string[] {
  refuseOptions(options, launch)
  const { model, effort, systemPrompt, isolation } = options
  if (effort !== undefined && !EFFORTS.includes(effort))
    throw unsupported('pi', 'effort', `it supports ${EFFORTS.join(', ')}`)
  return [
    ...value('--model', model),
    ...value('--thinking', effort),
    ...(options.skills ?? []).flatMap((directory) => ['--skill', directory]),
    ...(systemPrompt?.replace === undefined ? [] : ['--system-prompt', filePath(REPLACED)]),
    ...(systemPrompt?.append === undefined ? [] : ['--append-system-prompt', filePath(APPENDED)]),
    // Instruction files are read from every parent directory, including the user's.
    ...(isolation === 'no-project' ? ['--no-approve', '--no-context-files'] : []),
  ]
}

/** Passed as files, because pi treats a text that is a file path as that file. */
export function promptFiles({ systemPrompt }: SessionOptions): LaunchFile[] {
  const { replace, append } = systemPrompt ?? {}
  return [
    ...(replace === undefined ? [] : [{ name: REPLACED, text: replace }]),
    ...(append === undefined ? [] : [{ name: APPENDED, text: append }]),
  ]
}

function refuseOptions(options: SessionOptions, launch: Start['launch']): void {
  const { extraDirectories, mcpServers, isolation, images, outputSchema } = options
  if (extraDirectories)
    throw unsupported('pi', 'extraDirectories', 'it works in one directory, and reads any')
  if (mcpServers) throw unsupported('pi', 'mcpServers', 'it reads them from a file only')
  if (isolation === 'bare') throw unsupported('pi', 'isolation bare', 'it always reads its own settings')
  if (images && launch === 'oneshot') throw unsupported('pi', 'images', 'only its live launch accepts them')
  if (outputSchema) throw unsupported('pi', 'outputSchema', 'it has no structured output')
  refuseSet('pi', options, {
    checkpointing: 'it has no checkpoints',
    fallbackModel: 'it has no such setting',
    subagents: 'it has no sub-agents',
  })
}

/** A missing session is an error; the flag that takes an exact id would start a new session instead. */
export function resumeArgs({ resume, fork }: Pick<Start, 'resume' | 'fork'>): string[] {
  if (resume === undefined) return []
  if (!OUTSIDE_ID.test(resume)) throw new MainstemError('invalid_request', 'resume: not a session id')
  return [fork ? '--fork' : '--session', resume]
}
