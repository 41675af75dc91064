import { type Agent, recipe } from '../../../agent.ts'
import { accounted } from '../../../kit/accounted.ts'
import { unsupported } from '../../../kit/option.ts'
import { toolNames } from '../../../kit/tool-names.ts'
import { CAPABILITIES } from '../capabilities.ts'
import { dropped } from '../ignored-fields.ts'
import { TOOLS } from '../tools.ts'
import { recordedCodec } from './recorded.ts'

/** The recordings of OpenCode 2. Its program is started as `opencode`. */
export const opencode2: Agent = {
  id: 'opencode2',
  name: 'OpenCode 2',
  tools: toolNames(TOOLS),
  launches: {
    live: recipe({
      codec: accounted(recordedCodec, dropped),
      stream: 'sse',
      capabilities: CAPABILITIES,
      launch: refuse,
    }),
    oneshot: recipe({ codec: accounted(recordedCodec, dropped), capabilities: CAPABILITIES, launch: refuse }),
  },
}

function refuse(): never {
  throw unsupported('opencode2', 'a launch', 'the name is for recordings; start the agent opencode')
}
