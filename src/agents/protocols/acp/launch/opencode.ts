import type { Policy } from '../../../../model/index.ts'
import { OPENCODE } from './known-agents.ts'
import { type AcpQuirks, modesOf } from './quirks.ts'

/** OpenCode 2 and its pre-releases. */
export const OPENCODE_2_FROM = '2.0.0-0'

/**
 * OpenCode renamed its permissions in version 2, and no run has verified that it reads the variables of `opencodeEnv`.
 * Without rules it runs everything, so a restrictive policy is rejected.
 */
const OPENCODE_2: AcpQuirks = {
  ...OPENCODE,
  modes: { 'auto-all none': ['build'], 'auto-all full-access': ['build'] },
  rulesAtStart: true,
  unenforced: 'OpenCode 2 may ignore the permission rules; choose auto-all, or install opencode-ai 1.18',
}

/** `opencode acp` with the permission rules that `opencodeEnv` passes: they enforce every policy. */
export const OPENCODE_WITH_RULES: AcpQuirks = {
  ...OPENCODE,
  modes: modesOf({ ask: ['build'], edit: ['build'], all: ['build'], readOnly: ['build'] }),
  rulesAtStart: true,
  later: { from: OPENCODE_2_FROM, quirks: OPENCODE_2 },
}

/** OpenCode reads its permissions from its configuration; without rules it runs everything. */
export function opencodeEnv({ approval, sandbox }: Policy): Readonly<Record<string, string>> {
  const readOnly = { edit: 'deny', bash: 'deny', external_directory: 'deny', webfetch: 'ask' }
  const rules = {
    ask: { edit: 'ask', bash: 'ask', webfetch: 'ask', external_directory: 'ask' },
    'ask-dangerous': { edit: 'allow', bash: 'ask', external_directory: 'ask' },
    'auto-edit': { edit: 'allow', bash: 'ask', external_directory: 'ask' },
    'auto-all': { '*': 'allow' },
  }
  const permission = sandbox === 'read-only' ? readOnly : rules[approval]
  return {
    // An inherited variable would override the configuration, and might allow more.
    OPENCODE_PERMISSION: JSON.stringify(permission),
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ autoupdate: false, share: 'disabled', permission }),
    OPENCODE_DISABLE_AUTOUPDATE: 'true',
  }
}
