import { type Launch, recipe, type Start } from '../agent.ts'
import { flagValue, unsupported } from '../kit/option.ts'
import { acpCodec } from '../protocols/acp/codec.ts'
import { GEMINI } from '../protocols/acp/launch/known-agents.ts'
import { ACP_CAPABILITIES, acpLaunch } from '../protocols/acp/launch/launch.ts'
import { LACKS, program } from './program.ts'
import { RULES_IGNORED, toolRules } from './tool-rules.ts'

/** `gemini --acp`: one long-running process with the Agent Client Protocol. */
export const live = recipe({
  codec: acpCodec({ ...GEMINI, warnings: [RULES_IGNORED] }),
  leavesTools: true,
  stopCode: 0,
  lacks: { ...LACKS, rewind: 'its command restores the files before a call, and names no turn' },
  capabilities: {
    ...ACP_CAPABILITIES,
    verbs: [],
    thinking: 'summary',
    usage: 'turn',
    subagents: true,
    // Its task lists are tool calls without reported content.
    plans: false,
    // A broken stream ends the turn, so it is never repeated. Gemini retries a stream that ends without a reason, and
    // its text is repeated.
    marksRetries: false,
  },
  launch,
})

function launch(start: Start): Launch {
  const { systemPrompt, ...options } = start.options
  const { model, effort } = options
  if (effort !== undefined) throw unsupported('gemini', 'effort', 'it has no such setting')
  if (systemPrompt?.append !== undefined)
    throw unsupported('gemini', 'systemPrompt.append', 'it can replace the prompt, but not append to it')
  const { tools: _tools, ...policy } = start.policy
  const rules = toolRules(start)
  const around = program(systemPrompt?.replace)
  const named = model === undefined ? [] : [flagValue('gemini', '--model', model)]
  return acpLaunch('gemini', { ...start, policy, options }, GEMINI, {
    argv: ['gemini', '--acp', ...rules.args, ...named],
    ...around,
    files: [...(around.files ?? []), ...rules.files],
  })
}
