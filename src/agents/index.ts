import { acpAgents } from './acp/agent.ts'
import type { Agent } from './agent.ts'
import { board } from './board/agent.ts'
import { claude } from './claude/agent.ts'
import { codex } from './codex/agent.ts'
import { demo } from './demo/agent.ts'
import { echo } from './echo/agent.ts'
import { gemini } from './gemini/agent.ts'
import { opencode } from './opencode/agent.ts'
import { opencode2 } from './opencode/opencode2/recorded/agent.ts'
import { pi } from './pi/agent.ts'

/** All agents. To add one, add its folder and a line here. */
export const agents: readonly Agent[] = [...acpAgents, board, claude, codex, demo, echo, gemini, opencode, pi]

/** Agents whose recordings can be decoded: OpenCode 2 is started as `opencode`, by the version that is installed. */
export const decodable: readonly Agent[] = [...agents, opencode2]
