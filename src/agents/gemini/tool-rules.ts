import { MainstemError, type Policy } from '../../model/index.ts'
import type { LaunchFile, Start } from '../agent.ts'
import { filePath, flagValue, unsupported } from '../kit/option.ts'
import { nativeTools } from '../kit/tool-names.ts'
import { kindOf, TOOLS } from './tools.ts'

const AGENT = 'gemini'
const FILE = 'tool-rules.toml'

type ToolLists = NonNullable<Policy['tools']>

/**
 * Converts the tool lists of a policy to rules of Gemini's policy engine. A tool that is denied there is not offered to
 * the model. Passed as an administrator policy, because `--policy` would replace the policies of the user.
 */
export function toolRules({ policy, launch }: Start): { args: string[]; files: LaunchFile[] } {
  const { tools = {} } = policy
  const rules = [...deniedRules(tools), ...absentRules(tools, launch)]
  const preapproved = preapprovedArgs(policy, launch)
  if (rules.length === 0) return { args: preapproved, files: [] }
  const text = rules.map((rule) => `[[rule]]\n${rule}\n`).join('\n')
  return { args: [`--admin-policy=${filePath(FILE)}`, ...preapproved], files: [{ name: FILE, text }] }
}

/** Gemini ignores the rules if the machine has administrator policies, and reports so. */
export const RULES_IGNORED = {
  text: 'Ignoring --admin-policy',
  notice: {
    type: 'notice.raised',
    level: 'error',
    code: 'protocol_refused',
    message:
      'Gemini CLI ignored the tool lists of this session, because this machine has system policies for it',
  },
} as const

function deniedRules({ denied = [] }: ToolLists): string[] {
  return nativeTools(TOOLS, 'tools.denied', denied).map((name) => {
    const prefix = /^run_shell_command\((.+)\)$/.exec(name)?.[1]
    return rule(prefix === undefined ? { toolName: name } : { commandPrefix: prefix }, 'deny', 999)
  })
}

/** Denies everything but the available tools. Available tools of a server require approval, so that we decide. */
function absentRules({ available }: ToolLists, launch: Start['launch']): string[] {
  if (!available) return []
  const kept = nativeTools(TOOLS, 'tools.available', available)
  const partial = kept.find((name) => name.includes('('))
  if (partial !== undefined)
    throw unsupported(
      AGENT,
      'tools.available',
      `"${partial}" is a rule; tools.available accepts whole tools only`,
    )
  const servers = kept.filter((name) => !TOOLS.kinds.has(name))
  if (servers.length > 0 && launch === 'oneshot')
    throw unsupported(AGENT, 'tools.available', 'its one-shot launch cannot choose among tools of servers')
  const absent = [...TOOLS.kinds.keys()].filter((name) => !kept.includes(name))
  return [
    ...servers.map((toolName) => rule({ toolName }, 'ask_user', 998)),
    rule({ toolName: [...absent, 'mcp_*'] }, 'deny', 997),
  ]
}

/** A one-shot process cannot request approval; the session answers the requests of a live one. */
function preapprovedArgs({ sandbox, tools }: Policy, launch: Start['launch']): string[] {
  const names = nativeTools(TOOLS, 'tools.preapproved', tools?.preapproved ?? [])
  if (launch === 'live') return []
  // A preapproved tool would run in plan mode too.
  const allowed = sandbox === 'read-only' ? names.filter(isHarmless) : names
  return allowed.map((name) => flagValue(AGENT, '--allowed-tools', name))
}

function isHarmless(name: string): boolean {
  return ['read', 'search', 'think'].includes(kindOf(name))
}

type Condition = Readonly<Record<string, string | readonly string[]>>

function rule(condition: Condition, decision: string, priority: number): string {
  const fields = Object.entries({ ...condition, decision }).map(([key, value]) => `${key} = ${quoted(value)}`)
  return [...fields, `priority = ${priority}`].join('\n')
}

/** JSON strings and lists of them are valid TOML, except for lone surrogates. */
function quoted(text: string | readonly string[]): string {
  if (![text].flat().every((one) => one.isWellFormed()))
    throw new MainstemError('invalid_request', 'a tool name contains a lone surrogate')
  return JSON.stringify(text)
}
