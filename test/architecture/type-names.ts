import { isNode, type Source } from './source.ts'

const DECLARES = new Set(['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration'])

/** The names of the types and classes that a file declares, exported or not. */
function declaredTypes({ root }: Source): string[] {
  const body = Array.isArray(root.body) ? root.body.filter(isNode) : []
  const statements = body.map(({ declaration, ...node }) => (isNode(declaration) ? declaration : node))
  return statements.flatMap((node) => {
    if (!isNode(node) || !DECLARES.has(node.type)) return []
    return isNode(node.id) && typeof node.id.name === 'string' ? [node.id.name] : []
  })
}

/** The type names that more than one file declares. Printed types repeat the schema of the same name. */
export function namesDeclaredTwice(sources: readonly Source[]): Map<string, string[]> {
  const files = new Map<string, string[]>()
  for (const one of sources) {
    if (one.path.endsWith('.types.ts')) continue
    for (const name of new Set(declaredTypes(one))) files.set(name, [...(files.get(name) ?? []), one.path])
  }
  return new Map([...files].filter(([, paths]) => paths.length > 1))
}

/** Names with two declarations on purpose, and why. A new type needs a name of its own. */
export const SAME_NAME: Readonly<Record<string, string>> = {
  AgentClient: 'the client, and its variant with the transports of Node, under the name that users import',
  AgentEvent: 'the public names of two dialects, each from its own specification',
  AgentEventType: 'the client repeats the names of the dialect for users',
  ApprovalMode: 'the client repeats the settings of the dialect for users',
  DailyUsage: 'the client repeats the names of the API for users',
  OpenRequest: 'the client repeats the names of the API for users',
  ReadOptions: 'the public options of the library and of the client',
  SandboxMode: 'the client repeats the settings of the dialect for users',
  Session: 'the session of the server, and the public session of the client',
  SessionQuery: 'the query of the store, and the public query of the client',
  SessionState: 'the state that the store keeps, and the public state in the unified protocol',
  Timers: 'the public timers of the client, and those of the drivers',
}
