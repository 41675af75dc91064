import type { Start } from '../agent.ts'
import { unsupported } from '../kit/option.ts'
import { nativeTools, type ToolTable } from '../kit/tool-names.ts'
import { TOOLS } from './tools.ts'

type PermissionAction = 'allow' | 'ask' | 'deny'
type PermissionRule = PermissionAction | Readonly<Record<string, PermissionAction>>
type PermissionRules = Map<string, PermissionRule>

/** The names of permissions, which differ between generations. */
export interface PermissionNames {
  readonly tools: ToolTable
  readonly shell: string
  readonly task: string
  /** Other tools that run without approval. */
  readonly harmless: readonly string[]
}

const NAMES: PermissionNames = {
  tools: TOOLS,
  shell: 'bash',
  task: 'task',
  harmless: ['glob', 'grep', 'list', 'todowrite', 'task', 'skill'],
}

/** Files with secrets require approval, as by default. */
const READ: PermissionRule = { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' }

/**
 * The permission rules of a launch. OpenCode merges them into the rules of its settings, and the last matching rule
 * wins: so "*" comes first and is the strictest, and merged rules can only ask or deny more.
 */
export function permissionRules(
  { policy, options, launch }: Start,
  names: PermissionNames = NAMES,
): Record<string, PermissionRule> {
  const { approval, sandbox, tools } = policy
  const readOnly = sandbox === 'read-only'
  // Every request is then approved, by the launch or by us: no rule is needed, and none is overridden.
  const open = approval === 'auto-all' && !readOnly
  const rules: PermissionRules = new Map()
  if (!open) {
    rules.set('*', readOnly ? 'deny' : 'ask')
    rules.set('read', READ)
    for (const permission of names.harmless) rules.set(permission, 'allow')
    rules.set('question', launch === 'live' ? 'allow' : 'deny')
    if (readOnly) rules.set('webfetch', 'ask')
    else if (approval !== 'ask') rules.set('edit', 'allow')
    // A request for a shell command would end the whole run, because it cannot be answered.
    if (approval === 'auto-edit' && launch === 'oneshot') rules.set(names.shell, 'deny')
  }
  const available = tools?.available && permissionsOf(names, 'tools.available', tools.available)
  if (available) keepOnly(rules, available, open ? 'allow' : 'ask')
  for (const permission of permissionsOf(names, 'tools.preapproved', tools?.preapproved ?? [])) {
    if (!available || available.includes(permission)) append(rules, permission, 'allow')
  }
  if (options.extraDirectories)
    append(rules, 'external_directory', directoryRule(options.extraDirectories, readOnly))
  for (const permission of deniedPermissions(tools?.denied, names)) append(rules, permission, 'deny')
  // A one-shot run does not report the cost of its sub-agents, so a budget could not be enforced on them.
  if (policy.maxBudgetUsd !== undefined && launch === 'oneshot') append(rules, names.task, 'deny')
  return Object.fromEntries(rules)
}

/** Moves a rule behind all others. */
function append(rules: PermissionRules, permission: string, rule: PermissionRule): void {
  rules.delete(permission)
  rules.set(permission, rule)
}

function keepOnly(rules: PermissionRules, available: readonly string[], action: PermissionAction): void {
  const before = new Map(rules)
  rules.clear()
  rules.set('*', 'deny')
  for (const permission of available) rules.set(permission, before.get(permission) ?? action)
}

/** One permission covers all tools that change files. */
const FILE_TOOLS: ReadonlySet<string> = new Set(['edit', 'write', 'patch', 'apply_patch'])

function permissionOf(tool: string): string {
  return FILE_TOOLS.has(tool) ? 'edit' : tool
}

/** Returns whether calls of this tool need this permission, as opposed to one such as `external_directory`. */
export function isPermissionOf(permission: string, tool: string): boolean {
  return permission === tool || permission === permissionOf(tool)
}

/** The permissions that deny these tools; denying one file tool denies all of them, which is stricter. */
export function deniedPermissions(
  denied: readonly string[] = [],
  { tools }: PermissionNames = NAMES,
): string[] {
  return unique(nativeTools(tools, 'tools.denied', denied).map(permissionOf))
}

function permissionsOf(
  { tools: table }: PermissionNames,
  option: string,
  names: readonly string[],
): string[] {
  const tools = nativeTools(table, option, names)
  const some = tools.some((name) => FILE_TOOLS.has(name))
  if (some && !(tools.includes('edit') && tools.includes('write')))
    throw unsupported('opencode', option, 'it allows "edit" and "write" only together')
  return unique(tools.map(permissionOf))
}

function unique(permissions: readonly string[]): string[] {
  return [...new Set(permissions)]
}

function directoryRule(directories: readonly string[], readOnly: boolean): PermissionRule {
  const rule: Record<string, PermissionAction> = { '*': readOnly ? 'deny' : 'ask' }
  for (const directory of directories) {
    if (/[*?]/.test(directory))
      throw unsupported('opencode', 'extraDirectories', `${directory} would be parsed as a pattern`)
    rule[`${directory.replace(/\/+$/, '')}/*`] = 'allow'
  }
  return rule
}
