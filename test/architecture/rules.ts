import {
  AGENT_IDS,
  EMPTY_WORDS,
  IMPURE_GLOBALS,
  LAYERS,
  MAX_FILE_LINES,
  MAX_FUNCTION_LINES,
} from './layers.ts'
import { type Import, importsOf, isNode, lineOf, type Node, type Source, textOf, walk } from './source.ts'

/** A rule looks at one file and names what breaks it, as `path:line what`. */
export type Rule = (source: Source) => string[]

function at(source: Source, node: Node, what: string): string {
  return `${source.path}:${lineOf(source, node.start)} ${what}`
}

/** A rule on single nodes: says what is wrong with this one, or nothing. */
function nodes(judge: (node: Node, above: Node | undefined, source: Source) => string | undefined): Rule {
  return (source) => {
    const found: string[] = []
    for (const [node, above] of walk(source.root)) {
      const what = judge(node, above, source)
      if (what !== undefined) found.push(at(source, node, what))
    }
    return found
  }
}

/** The folder whose row holds: the first below `src/`, one inside it with its own row, or a file in `src/` itself. */
function folderOf(path: string): string | undefined {
  const [, folder, inner] = /^src\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? []
  const nested = `${folder}/${inner}`
  return Object.hasOwn(LAYERS, nested) ? nested : folder
}

function isPackage(name: string, specifier: string): boolean {
  if (name === 'node:*') return specifier.startsWith('node:')
  return specifier === name || specifier.startsWith(`${name}/`)
}

function mayImport(folder: string, from: string, to: Import): boolean {
  const layer = LAYERS[folder]
  if (!layer) return false
  if (!to.relative) return layer.packages.some((name) => isPackage(name, to.target))
  if (folderOf(to.target) === folder) return mayImportSibling(folder, from, to.target, layer.isolatedBut)
  return layer.imports.some((allowed) => {
    const [path = '', kind] = allowed.split(' ').reverse()
    if (kind === 'type' && !to.typeOnly) return false
    if (to.target === `src/${path}`) return true
    // The right to a folder is none to the folders inside it that have a row of their own.
    return to.target.startsWith(`src/${path}/`) && (path.includes('/') || folderOf(to.target) === path)
  })
}

/** In an isolated folder: the common rooms for everybody, a room of its own for itself and for the index. */
function mayImportSibling(folder: string, from: string, to: string, common?: readonly string[]): boolean {
  if (!common) return true
  const roomOf = (path: string) => path.slice(`src/${folder}/`.length).split('/').slice(0, -1)[0]
  const room = roomOf(to)
  if (room === undefined) return to !== `src/${folder}/index.ts`
  return common.includes(room) || roomOf(from) === room || from === `src/${folder}/index.ts`
}

const layers: Rule = (source) => {
  const folder = folderOf(source.path)
  if (folder === undefined) return []
  if (!LAYERS[folder]) return [`${source.path}:1 ${folder} has no row in the table of layers`]
  return importsOf(source)
    .filter((to) => !mayImport(folder, source.path, to))
    .map((to) => at(source, to.node, `${folder} may not import ${to.target}${to.typeOnly ? ' (type)' : ''}`))
}

/** Keys, property names and types only look like uses of a global. */
function isReference(node: Node, above: Node | undefined): boolean {
  if (node.type !== 'Identifier' || !above) return false
  if (above.type === 'TSTypeReference' || above.type === 'TSQualifiedName') return false
  if (above.type === 'Property' && above.shorthand === true) return true
  if (above.computed === true) return true
  return above.property !== node && above.key !== node && above.imported !== node && above.exported !== node
}

const purity: Rule = (source) => {
  const folder = folderOf(source.path)
  if (folder === undefined || !LAYERS[folder]?.pure) return []
  return nodes((node, above, { text }) => {
    if (node.type === 'MemberExpression' && text.slice(node.start, node.end) === 'Math.random')
      return 'Math.random'
    const name = isReference(node, above) && typeof node.name === 'string' ? node.name : undefined
    return name !== undefined && IMPURE_GLOBALS.has(name) ? `${folder} is pure, and names ${name}` : undefined
  })(source)
}

const COMPARISONS = new Set(['===', '!==', '==', '!='])

function isAgentId(node: unknown): boolean {
  return (
    isNode(node) && node.type === 'Literal' && typeof node.value === 'string' && AGENT_IDS.has(node.value)
  )
}

const agentNames: Rule = (source) => {
  if (!source.path.startsWith('src/') || folderOf(source.path) === 'agents') return []
  return nodes((node, _above, file) => {
    const compared = node.type === 'BinaryExpression' && COMPARISONS.has(String(node.operator))
    if (compared && (isAgentId(node.left) || isAgentId(node.right)))
      return `compares with ${textOf(file, node)}`
    return node.type === 'SwitchCase' && isAgentId(node.test)
      ? `branches on ${textOf(file, node.test)}`
      : undefined
  })(source)
}

const casts = nodes((node, _above, source) => {
  if (node.type === 'TSAnyKeyword') return 'any'
  if (node.type === 'TSNonNullExpression') return `non-null ${textOf(source, node)}`
  if (node.type !== 'TSAsExpression' || !isNode(node.expression)) return undefined
  if (textOf(source, node.typeAnnotation) === 'never') return 'as never'
  const inner = node.expression
  if (inner.type === 'TSAsExpression' && textOf(source, inner.typeAnnotation) === 'unknown')
    return 'as unknown as'
  return textOf(source, inner).startsWith('JSON.parse(') ? 'as after JSON.parse' : undefined
})

function isEmptyBlock(node: unknown): boolean {
  return isNode(node) && node.type === 'BlockStatement' && Array.isArray(node.body) && node.body.length === 0
}

/** A comment does not fill a catch: the error still disappears. */
const emptyCatch = nodes((node) => {
  if (node.type === 'CatchClause' && isEmptyBlock(node.body)) return 'empty catch'
  if (node.type !== 'CallExpression' || !isNode(node.callee) || !isNode(node.callee.property))
    return undefined
  const [taken] = Array.isArray(node.arguments) ? node.arguments : []
  const swallows = node.callee.property.name === 'catch' && isNode(taken) && isEmptyBlock(taken.body)
  return swallows ? 'empty catch' : undefined
})

const exportStar = nodes((node) => (node.type === 'ExportAllDeclaration' ? 'export *' : undefined))

const FUNCTIONS = new Set(['ArrowFunctionExpression', 'FunctionDeclaration', 'FunctionExpression'])

const functionLength = nodes((node, _above, source) => {
  if (!FUNCTIONS.has(node.type)) return undefined
  const lines = textOf(source, node).split('\n').length
  return lines > MAX_FUNCTION_LINES ? `a function of ${lines} lines` : undefined
})

export function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length
}

const fileLength: Rule = ({ path, text }) => {
  const lines = lineCount(text)
  return lines > MAX_FILE_LINES ? [`${path}:1 ${lines} lines`] : []
}

const ESCAPES = /@ts-(?:ignore|expect-error|nocheck)|biome-ignore|eslint-disable|\b(?:TODO|FIXME|XXX)\b/

const escapes: Rule = ({ path, text }) =>
  text.split('\n').flatMap((line, index) => {
    const found = ESCAPES.exec(line)
    return found ? [`${path}:${index + 1} ${found[0]}`] : []
  })

const words = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)

const names: Rule = (source) => {
  const empty = (name: string) => words(name).find((word) => EMPTY_WORDS.has(word))
  const file = source.path.split('/').at(-1) ?? ''
  const found = empty(file) === undefined ? [] : [`${source.path}:1 a file named ${file}`]
  if (!/^[a-z0-9.-]+$/.test(file)) found.push(`${source.path}:1 ${file} is not kebab-case`)
  const declared = nodes((node) => {
    const name = /Declaration$/.test(node.type) && isNode(node.id) ? node.id.name : undefined
    return typeof name === 'string' && empty(name) !== undefined ? `declares ${name}` : undefined
  })
  return [...found, ...declared(source)]
}

/** Rules for everything under `src/`, `scripts/` and `faults/`. */
export const RULES = {
  layers,
  purity,
  agentNames,
  casts,
  emptyCatch,
  exportStar,
  functionLength,
  fileLength,
  escapes,
  names,
} satisfies Record<string, Rule>

const SUITES = new Set(['describe', 'it', 'test'])

/** Rules for `test/`: nothing skipped, no module of ours replaced. */
export const hollowTests = nodes((node, _above, source) => {
  if (node.type !== 'MemberExpression' || !isNode(node.object) || !isNode(node.property)) return undefined
  const [object, property] = [textOf(source, node.object), textOf(source, node.property)]
  const hollow = SUITES.has(object) && ['only', 'skip', 'skipIf', 'todo'].includes(property)
  const mocked = object === 'vi' && ['doMock', 'hoisted', 'mock'].includes(property)
  return hollow || mocked ? `${object}.${property}` : undefined
})
