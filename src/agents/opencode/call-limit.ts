import type { LaunchFile } from '../agent.ts'
import { filePath } from '../kit/option.ts'

const NAME = 'call-limit.mjs'

/**
 * A plugin that holds the model call after the last allowed one and aborts the session. OpenCode has no limit on calls:
 * `steps` of an agent only asks the model to stop, and an interrupt may come after the next call has begun. Calls of
 * sub-agents do not count.
 */
export function callLimit(maxSteps: number): { file: LaunchFile; settings: { plugin: string[] } } {
  const text = `export const MainstemCallLimit = async ({ client }) => ({
  'experimental.chat.messages.transform': async (_input, { messages }) => {
    const prompt = messages.findLast(({ info }) => info.role === 'user')?.info
    if (!prompt) return
    let calls = 0
    for (const { info, parts } of messages)
      if (info.parentID === prompt.id) calls += parts.filter(({ type }) => type === 'step-finish').length
    if (calls < ${maxSteps}) return
    const path = { id: prompt.sessionID }
    const { data: session } = await client.session.get({ path })
    if (!session || session.parentID) return
    await client.session.abort({ path })
    await new Promise(() => {})
  },
})
`
  return { file: { name: NAME, text }, settings: { plugin: [filePath(NAME)] } }
}
