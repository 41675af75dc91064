import { type Launch, recipe, type Start } from '../agent.ts'
import { flagValue, unsupported } from '../option.ts'
import { acpCodec } from '../protocols/acp/codec.ts'
import { GEMINI } from '../protocols/acp/known.ts'
import { ACP_CAPABILITIES, acpLaunch } from '../protocols/acp/launch.ts'
import { program } from './program.ts'
import { RULES_IGNORED, toolRules } from './tool-rules.ts'

/** `gemini --acp`: one warm process that speaks the Agent Client Protocol. */
export const live = recipe({
  codec: acpCodec({ ...GEMINI, warnings: [RULES_IGNORED] }),
  leavesTools: true,
  capabilities: {
    ...ACP_CAPABILITIES,
    thinking: 'summary',
    usage: 'turn',
    subagents: true,
    // Its lists of things to do are tool calls, and their content is not told.
    plans: false,
    // A broken stream ends the turn, so nothing is ever repeated.
    // A stream that ends without a reason is asked for again, and its text comes a second time.
    marksRetries: false,
  },
  launch,
})

function launch(start: Start): Launch {
  const { systemPrompt, ...options } = start.options
  const { model, effort } = options
  if (effort !== undefined) throw unsupported('gemini', 'effort', 'it has no such setting')
  if (systemPrompt?.append !== undefined)
    throw unsupported('gemini', 'systemPrompt.append', 'it takes another one, but no more of it')
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
