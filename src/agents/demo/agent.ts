import type { Capabilities } from '../../model/index.ts'
import { type Agent, type Beat, type BuiltinLaunch, recipe } from '../agent.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { unsupported } from '../kit/option.ts'
import { demoCodec } from './codec.ts'
import { Play } from './native.ts'
import { SCENES } from './script.ts'

const capabilities: Capabilities = {
  ...NO_CAPABILITIES,
  deltas: true,
  thinking: 'raw',
  permissions: true,
  questions: true,
  // A line cannot cancel scheduled output, so a turn is cancelled by ending the process.
  interrupt: 'signal',
  setMode: true,
  usage: 'step',
  cost: true,
  diffs: true,
  plans: true,
  subagents: true,
}

/** The lines of the requested scene, stamped with the prompt they answer. */
function reply(line: string): readonly Beat[] {
  const { run, scene } = Play.parse(JSON.parse(line))
  const cues = SCENES.get(scene) ?? []
  return cues.map((cue) => ({ afterMs: cue.afterMs, line: JSON.stringify({ run, ...cue.line }) }))
}

const launch: BuiltinLaunch = { kind: 'builtin', reply }

const launchRecipe = recipe({
  stateless: true,
  capabilities,
  codec: demoCodec,
  launch({ resume, options, policy, mode }) {
    if (mode !== undefined) throw unsupported('demo', `mode ${mode}`, 'it has no modes')
    const fixed = 'its script is fixed'
    if (resume !== undefined) throw unsupported('demo', 'resume', 'it has no sessions to resume')
    if (policy.tools) throw unsupported('demo', 'tools', fixed)
    for (const option of ['outputSchema', 'images', 'mcpServers'] as const) {
      if (options[option]) throw unsupported('demo', option, fixed)
    }
    return launch
  },
})

/** Plays a scripted session at human speed: demonstrates every feature without a key or a network. */
export const demo: Agent = {
  id: 'demo',
  name: 'Demo',
  launches: { live: launchRecipe },
}
