import { type LaunchRecipe, recipe } from '../agent.ts'
import { acpCodec } from '../protocols/acp/codec.ts'
import { ACP_CAPABILITIES, acpLaunch } from '../protocols/acp/launch.ts'
import { OPENCODE_WITH_RULES, opencodeEnv } from '../protocols/acp/opencode.ts'

/** `opencode acp`: the only protocol that OpenCode 2 shares with earlier versions. */
export function acpRecipe(passEnv: readonly string[]): LaunchRecipe {
  return recipe({
    codec: acpCodec(OPENCODE_WITH_RULES),
    leavesTools: true,
    capabilities: { ...ACP_CAPABILITIES, usage: 'turn', cost: true, subagents: true },
    launch: (start) =>
      acpLaunch('opencode', start, OPENCODE_WITH_RULES, {
        argv: ['opencode', 'acp'],
        env: opencodeEnv(start.policy),
        passEnv,
      }),
  })
}
