import type { RequestOpened } from '../../model/index.ts'
import { mcpName, withRelativePaths } from './describe-call.ts'

/** What names a request. */
export type RequestFacts = Pick<RequestOpened, 'kind' | 'tool' | 'title' | 'questions'>

/** A request in one line: its question, the tool of an MCP server, or what the agent calls it. */
export function requestText({ kind, tool, title, questions }: RequestFacts, cwd: string): string {
  const mcp = tool === undefined ? undefined : mcpName(tool)
  const called = mcp ? `${mcp.server} › ${mcp.tool}` : (title ?? tool ?? kind)
  return withRelativePaths(questions?.[0]?.text ?? called, cwd)
}
