import type { ToolNames } from '../../agents/agent.ts'
import { canonicalKind } from '../../model/request/canonical-kind.ts'

/** The names of an agent without a table of its tools: its own, and their kinds. */
export const plainToolNames: ToolNames = {
  means: (name, { tool, toolKind }) => name === tool || name === toolKind,
  canonical: ({ tool = '', toolKind }) => canonicalKind(toolKind) ?? tool,
}
