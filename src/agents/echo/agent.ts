import { type Agent, type BuiltinLaunch, recipe } from '../agent.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { unsupported } from '../kit/option.ts'
import { echoCodec } from './codec.ts'

const launch: BuiltinLaunch = { kind: 'builtin', reply: (line) => [{ afterMs: 0, line }] }

const launchRecipe = recipe({
  stateless: true,
  capabilities: NO_CAPABILITIES,
  codec: echoCodec,
  launch({ resume, options, mode }) {
    if (mode !== undefined) throw unsupported('echo', `mode ${mode}`, 'it has no modes')
    if (resume !== undefined) throw unsupported('echo', 'resume', 'it has no sessions to resume')
    if (options.outputSchema) throw unsupported('echo', 'outputSchema', 'its answer is the prompt')
    if (options.images) throw unsupported('echo', 'images', 'it accepts text only')
    return launch
  },
})

/** Echoes its prompt: the smallest agent, for testing a setup without a key. */
export const echo: Agent = {
  id: 'echo',
  name: 'Echo',
  launches: {
    live: { ...launchRecipe, capabilities: { ...NO_CAPABILITIES, setModel: true, setMode: true } },
    oneshot: launchRecipe,
  },
}
