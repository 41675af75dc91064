import type { Policy } from '../../model/index.ts'
import { flagValue, unsupported } from '../kit/option.ts'
import { tomlOf } from './toml.ts'
import { asksForPatches, checkToolLists, toolSettings } from './tool-lists.ts'

const AGENT = 'codex'

export type ApprovalPolicy = 'untrusted' | 'on-request' | 'never'
export type CodexSandbox = 'read-only' | 'workspace-write' | 'danger-full-access'

/** `none` passes nothing: the sandbox of the user's configuration applies. */
export function sandboxMode({ sandbox }: Policy): CodexSandbox | undefined {
  if (sandbox === 'none') return undefined
  return sandbox === 'full-access' ? 'danger-full-access' : sandbox
}

/** The approval policy of the live launch. The session answers the requests of Codex by its policy. */
export function approvalPolicy(policy: Policy): ApprovalPolicy {
  refuseWhatNothingHolds(policy)
  checkToolLists({ policy, launch: 'live' })
  const asked = unasked(policy)
  return asksForPatches(policy) ? 'untrusted' : asked
}

function unasked({ approval, sandbox }: Policy): ApprovalPolicy {
  const sandboxed = sandbox === 'read-only' || sandbox === 'workspace-write'
  switch (approval) {
    case 'ask':
      return 'untrusted'
    case 'ask-dangerous':
      // Without a sandbox, "on-request" never requests approval: everything would run.
      return sandboxed ? 'on-request' : 'untrusted'
    case 'auto-edit':
      if (sandbox === 'workspace-write') return 'on-request'
      throw noAutoEdit(sandbox)
    case 'auto-all':
      return 'never'
    default:
      return approval satisfies never
  }
}

/** `codex exec` cannot request approval: it runs everything that its sandbox does not block. */
export function execPolicyArgs(policy: Policy): string[] {
  refuseWhatNothingHolds(policy)
  checkToolLists({ policy, launch: 'oneshot' })
  const { approval, sandbox, maxSteps } = policy
  if (maxSteps !== undefined)
    throw unsupported(AGENT, 'maxSteps', 'its one-shot launch does not report its steps')
  if (approval === 'auto-edit' && sandbox !== 'workspace-write') throw noAutoEdit(sandbox)
  const lists = Object.entries(toolSettings(policy)).map(([key, value]) =>
    flagValue(AGENT, '--config', `${key}=${tomlOf(value)}`),
  )
  if (sandbox === 'full-access') {
    if (approval === 'auto-all') return ['--dangerously-bypass-approvals-and-sandbox', ...lists]
    throw unsupported(AGENT, `${approval} with full-access`, 'its one-shot launch would approve everything')
  }
  const mode = sandboxMode(policy)
  return [
    ...(mode === undefined ? [] : [`--sandbox=${mode}`]),
    ...Object.entries(workspaceLimits(policy)).map(([key, value]) =>
      flagValue(AGENT, '--config', `sandbox_workspace_write.${key}=${tomlOf(value)}`),
    ),
    ...lists,
  ]
}

/** Additional settings of the workspace sandbox, with Codex's configuration names. */
export function workspaceLimits({
  sandbox,
  network,
  writableRoots,
}: Policy): Record<string, boolean | string[]> {
  if (sandbox !== 'workspace-write') return {}
  return {
    ...(network !== undefined && { network_access: network }),
    ...(writableRoots && { writable_roots: writableRoots }),
  }
}

function noAutoEdit(sandbox: Policy['sandbox']) {
  return sandbox === 'read-only'
    ? unsupported(AGENT, 'auto-edit with read-only', 'they contradict each other')
    : unsupported(AGENT, `auto-edit with sandbox ${sandbox}`, 'it supports auto-edit only in workspace-write')
}

function refuseWhatNothingHolds({ sandbox, network, writableRoots, maxBudgetUsd }: Policy): void {
  if (maxBudgetUsd !== undefined) throw unsupported(AGENT, 'maxBudgetUsd', 'it does not report its cost')
  if (writableRoots && sandbox !== 'workspace-write')
    throw unsupported(AGENT, 'writableRoots', 'they need the sandbox workspace-write')
  const held = sandbox === 'workspace-write' || network === (sandbox === 'full-access')
  if (network !== undefined && (!held || sandbox === 'none'))
    throw unsupported(AGENT, `network ${network} with sandbox ${sandbox}`, 'that sandbox does not enforce it')
}
