import type { Policy } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import { deniedPermissions, type PermissionNames, permissionRules } from '../permission.ts'
import { TOOLS } from './tools.ts'

/** The permissions of version 2 have the names of its tools. */
const NAMES: PermissionNames = {
  tools: TOOLS,
  shell: 'shell',
  task: 'subagent',
  harmless: ['glob', 'grep', 'subagent', 'skill'],
}

interface NativeRule {
  action: string
  resource: string
  effect: string
}

/** The rules as a list, in which the last match wins. A person can always answer, so both launches have the same. */
export function rulesOf(start: Start): NativeRule[] {
  const rules = permissionRules({ ...start, launch: 'live' }, NAMES)
  return Object.entries(rules).flatMap(([action, rule]) =>
    typeof rule === 'string'
      ? [{ action, resource: '*', effect: rule }]
      : Object.entries(rule).map(([resource, effect]) => ({ action, resource, effect })),
  )
}

/** The rules of a session come last, so no settings of an agent can allow what is denied here. */
export function sessionRules({ tools }: Policy): NativeRule[] {
  return deniedPermissions(tools?.denied, NAMES).map((action) => ({ action, resource: '*', effect: 'deny' }))
}
