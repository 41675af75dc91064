import { Approval, MainstemError, type Policy, type Sandbox } from '../model/index.ts'

/** From the strictest to the loosest; `none` leaves it to the agent, and most agents have no sandbox. */
const SANDBOXES: readonly Sandbox[] = ['read-only', 'workspace-write', 'none', 'full-access']

const LIMITS = ['maxSteps', 'maxBudgetUsd', 'timeoutMs', 'idleTimeoutMs'] as const

/**
 * The policy that was asked for, with every limit of the ceiling on it; `forbidden` when it asks for more.
 * What the ceiling does not grant is not granted, unless it grants everything of its kind.
 */
export function underCeiling(policy: Policy, ceiling: Policy): Policy {
  atMost('approval', Approval.options, policy.approval, ceiling.approval)
  atMost('sandbox', SANDBOXES, policy.sandbox, ceiling.sandbox)
  if (ceiling.sandbox !== 'full-access') {
    if (policy.network && !ceiling.network) tooMuch('network')
    within('writableRoots', policy.writableRoots, ceiling.writableRoots)
  }
  if (ceiling.approval !== 'auto-all') {
    within('tools.preapproved', policy.tools?.preapproved, ceiling.tools?.preapproved)
  }
  const limited: Policy = { ...policy, ...limitsOf(policy, ceiling) }
  if (ceiling.network === false) limited.network = false
  const tools = toolsOf(policy, ceiling)
  if (tools) limited.tools = tools
  return limited
}

function atMost<T>(name: string, order: readonly T[], asked: T, most: T): void {
  if (order.indexOf(asked) > order.indexOf(most)) tooMuch(name)
}

function within(
  name: string,
  asked: readonly string[] | undefined,
  granted: readonly string[] | undefined,
): void {
  if (asked?.some((one) => !granted?.includes(one))) tooMuch(name)
}

function limitsOf(policy: Policy, ceiling: Policy): Partial<Policy> {
  const limits: Partial<Policy> = {}
  for (const name of LIMITS) {
    const most = ceiling[name]
    if (most === undefined) continue
    if ((policy[name] ?? most) > most) tooMuch(name)
    limits[name] = policy[name] ?? most
  }
  return limits
}

function toolsOf({ tools: asked }: Policy, { tools: most }: Policy): Policy['tools'] {
  if (!most) return asked
  const available = asked?.available ?? most.available
  if (most.available) within('tools.available', available, most.available)
  const denied = [...new Set([...(most.denied ?? []), ...(asked?.denied ?? [])])]
  return { ...asked, ...(available && { available }), ...(denied.length > 0 && { denied }) }
}

function tooMuch(name: string): never {
  throw new MainstemError('forbidden', `policy.${name} is above what this server allows`, {
    field: `policy.${name}`,
  })
}
