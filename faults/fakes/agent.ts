import { acp } from './acp.ts'
import { claude } from './claude.ts'
import { codexLive, codexOnce } from './codex.ts'
import { gemini } from './gemini.ts'
import { History } from './history.ts'
import { opencodeLive, opencodeOnce } from './opencode.ts'
import { pi } from './pi.ts'

/**
 * `node agent.ts <directory> <agent> [flags]`: stands in for the named agent. The flags that Mainstem adds say
 * which of its protocols to speak; the history of the process goes into the directory.
 */
const [directory = '', agent = '', ...argv] = process.argv.slice(2)
const LIVE: Record<string, (argv: readonly string[]) => boolean> = {
  claude: (flags) => flags.includes('--input-format=stream-json'),
  codex: (flags) => flags.includes('app-server'),
  gemini: (flags) => flags.includes('--acp'),
  opencode: (flags) => flags.includes('serve'),
  pi: (flags) => flags.includes('rpc'),
  acp: () => true,
}
const isLive = LIVE[agent]?.(argv) ?? false
const history = new History(directory)
const run = (process.env.MAINSTEM_RUN ?? '').split('.')
const [session = '', epoch = ''] = run.slice(-2)
history.add({ type: 'started', agent, launch: isLive ? 'live' : 'oneshot', session, epoch: Number(epoch) })
history.noteLife(run.slice(0, -2).join('.'))

switch (agent) {
  case 'claude':
    await claude(history, argv, isLive)
    break
  case 'codex':
    await (isLive ? codexLive(history) : codexOnce(history, argv))
    break
  case 'gemini':
    await (isLive ? acp(history, ['default', 'autoEdit', 'yolo', 'plan']) : gemini(history, argv))
    break
  case 'opencode':
    await (isLive ? opencodeLive(history) : opencodeOnce(history, argv))
    break
  case 'pi':
    await pi(history, argv, isLive)
    break
  default:
    await acp(history)
}
