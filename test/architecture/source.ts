import { posix } from 'node:path'
import { parseAst } from 'vitest/node'

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** One source file, parsed. `path` is relative to the root of the repository. */
export interface Source {
  readonly path: string
  readonly text: string
  readonly root: Node
}

export interface Import {
  /** A path below the root for a relative import, the specifier as written for a package. */
  readonly target: string
  readonly relative: boolean
  readonly typeOnly: boolean
  readonly node: Node
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

export function source(path: string, text: string): Source {
  const root: unknown = parseAst(text, { lang: 'ts' })
  if (!isNode(root)) throw new TypeError(`${path} has no syntax tree`)
  return { path, text, root }
}

/** Every node with the one above it, from the outside in. */
export function* walk(root: Node): Generator<readonly [Node, Node | undefined]> {
  const left: (readonly [Node, Node | undefined])[] = [[root, undefined]]
  for (let next = left.pop(); next; next = left.pop()) {
    yield next
    const [node] = next
    const below: Node[] = []
    // Every rule walks every source: lists of values for each node would take twice as long.
    for (const key in node) {
      const value = node[key]
      if (isNode(value)) below.push(value)
      else if (Array.isArray(value)) for (const child of value) if (isNode(child)) below.push(child)
    }
    for (const child of below.reverse()) left.push([child, node])
  }
}

export function lineOf(source: Source, offset: number): number {
  return source.text.slice(0, offset).split('\n').length
}

export function textOf(source: Source, node: unknown): string {
  return isNode(node) ? source.text.slice(node.start, node.end) : ''
}

const IMPORTING = new Set([
  'ExportAllDeclaration',
  'ExportNamedDeclaration',
  'ImportDeclaration',
  'ImportExpression',
  'TSImportType',
])

function isTypeOnly(node: Node): boolean {
  if (node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type') return true
  const names = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : []
  return names.length > 0 && names.every((name) => name.importKind === 'type' || name.exportKind === 'type')
}

export function importsOf(source: Source): Import[] {
  const found: Import[] = []
  for (const [node] of walk(source.root)) {
    if (!IMPORTING.has(node.type) || !isNode(node.source)) continue
    const specifier = typeof node.source.value === 'string' ? node.source.value : '<computed>'
    const relative = specifier.startsWith('.')
    const target = relative ? posix.join(posix.dirname(source.path), specifier) : specifier
    found.push({ target, relative, typeOnly: isTypeOnly(node), node })
  }
  return found
}
