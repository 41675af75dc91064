import type { Start } from '../agent.ts'
import { unsupported } from '../option.ts'
import { nativeTools } from '../tool-names.ts'
import { TOOLS } from './tools.ts'

type Action = 'allow' | 'ask' | 'deny'
type Rule = Action | Readonly<Record<string, Action>>
type Rules = Map<string, Rule>

/** Read-only tools run without approval; files with secrets require it, as by default. */
const HARMLESS: Readonly<Record<string, Rule>> = {
  read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' },
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
  todowrite: 'allow',
  task: 'allow',
  skill: 'allow',
}

/**
 * The permission rules of a launch. OpenCode merges them into the rules of its settings, and the last matching rule
 * wins: so "*" comes first and is the strictest, and merged rules can only ask or deny more.
 */
export function permissionRules({ policy, options, launch }: Start): Record<string, Rule> {
  const { approval, sandbox, tools } = policy
  const readOnly = sandbox === 'read-only'
  // Every request is then approved, by the launch or by us: no rule is needed, and none is overridden.
  const open = approval === 'auto-all' && !readOnly
  const rules: Rules = new Map()
  if (!open) {
    rules.set('*', readOnly ? 'deny' : 'ask')
    for (const [permission, rule] of Object.entries(HARMLESS)) rules.set(permission, rule)
    rules.set('question', launch === 'live' ? 'allow' : 'deny')
    if (readOnly) rules.set('webfetch', 'ask')
    else if (approval !== 'ask') rules.set('edit', 'allow')
    // A request for a shell command would end the whole run, because it cannot be answered.
    if (approval === 'auto-edit' && launch === 'oneshot') rules.set('bash', 'deny')
  }
  const available = tools?.available && permissionsOf('tools.available', tools.available)
  if (available) keepOnly(rules, available, open ? 'allow' : 'ask')
  for (const permission of permissionsOf('tools.preapproved', tools?.preapproved ?? [])) {
    if (!available || available.includes(permission)) append(rules, permission, 'allow')
  }
  if (options.extraDirectories)
    append(rules, 'external_directory', directoryRule(options.extraDirectories, readOnly))
  for (const permission of deniedPermissions(tools?.denied)) append(rules, permission, 'deny')
  // A one-shot run does not report the cost of its sub-agents, so a budget could not be enforced on them.
  if (policy.maxBudgetUsd !== undefined && launch === 'oneshot') append(rules, 'task', 'deny')
  return Object.fromEntries(rules)
}

/** Moves a rule behind all others. */
function append(rules: Rules, permission: string, rule: Rule): void {
  rules.delete(permission)
  rules.set(permission, rule)
}

function keepOnly(rules: Rules, available: readonly string[], action: Action): void {
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

/** The permissions that deny these tools; denying one file tool denies all of them, which is stricter. */
export function deniedPermissions(names: readonly string[] = []): string[] {
  return unique(nativeTools(TOOLS, 'tools.denied', names).map(permissionOf))
}

function permissionsOf(option: string, names: readonly string[]): string[] {
  const tools = nativeTools(TOOLS, option, names)
  const some = tools.some((name) => FILE_TOOLS.has(name))
  if (some && !(tools.includes('edit') && tools.includes('write')))
    throw unsupported('opencode', option, 'it allows "edit" and "write" only together')
  return unique(tools.map(permissionOf))
}

function unique(permissions: readonly string[]): string[] {
  return [...new Set(permissions)]
}

function directoryRule(directories: readonly string[], readOnly: boolean): Rule {
  const rule: Record<string, Action> = { '*': readOnly ? 'deny' : 'ask' }
  for (const directory of directories) {
    if (/[*?]/.test(directory))
      throw unsupported('opencode', 'extraDirectories', `${directory} would be parsed as a pattern`)
    rule[`${directory.replace(/\/+$/, '')}/*`] = 'allow'
  }
  return rule
}
