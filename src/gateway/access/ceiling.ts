import { Approval, MainstemError, type Policy, type Sandbox } from '../../model/index.ts'

/** From the strictest to the loosest; `none` leaves sandboxing to the agent, and most agents have no sandbox. */
const SANDBOXES: readonly Sandbox[] = ['read-only', 'workspace-write', 'none', 'full-access']

const LIMITS = ['maxSteps', 'maxBudgetUsd', 'timeoutMs', 'idleTimeoutMs'] as const

/**
 * Applies every limit of the ceiling to the requested policy; throws `forbidden` when the policy requests more. A
 * permission that the ceiling does not grant is denied, unless the ceiling grants everything of its kind.
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

/** Restricts a policy to the ceiling. Never adds a permission. */
export function lowered(policy: Policy, ceiling: Policy): Policy {
  const lower: Policy = {
    ...policy,
    approval: lesser(Approval.options, policy.approval, ceiling.approval),
    sandbox: lesser(SANDBOXES, policy.sandbox, ceiling.sandbox),
  }
  if (ceiling.sandbox !== 'full-access') {
    if (lower.network && !ceiling.network) delete lower.network
    if (lower.writableRoots) lower.writableRoots = granted(lower.writableRoots, ceiling.writableRoots)
  }
  const preapproved = policy.tools?.preapproved
  if (preapproved && ceiling.approval !== 'auto-all') {
    lower.tools = { ...lower.tools, preapproved: granted(preapproved, ceiling.tools?.preapproved) }
  }
  const available = ceiling.tools?.available
  if (available) {
    lower.tools = { ...lower.tools, available: granted(policy.tools?.available ?? available, available) }
  }
  for (const name of LIMITS) {
    const most = ceiling[name]
    if (most !== undefined) lower[name] = Math.min(policy[name] ?? most, most)
  }
  return underCeiling(lower, ceiling)
}

function lesser<T>(order: readonly T[], one: T, other: T): T {
  return order.indexOf(one) < order.indexOf(other) ? one : other
}

function granted(asked: readonly string[], most: readonly string[] = []): string[] {
  return asked.filter((one) => most.includes(one))
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
  throw new MainstemError('forbidden', `policy.${name} exceeds what this server allows`, {
    field: `policy.${name}`,
  })
}
