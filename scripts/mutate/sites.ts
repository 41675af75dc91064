import { parseSync } from 'vite'

/** A place in a source file and the text that replaces it. */
export interface Site {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Statements and expressions are switched differently. */
  readonly kind: 'expression' | 'statement'
}

type Node = Record<string, unknown> & { type: string; start: number; end: number }

const SWAPS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
  '++': '--',
  '--': '++',
  '+=': '-=',
  '-=': '+=',
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
])

/** TypeScript nodes that contain a value; all others are types. */
const TYPED_VALUES: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
])

/**
 * Lists the mutations of a source file. Code outside of functions is left out: it runs once, at import, so a mutation
 * there cannot be switched on for a later test.
 */
export function sitesIn(file: string, source: string): Site[] {
  const { program } = parseSync(file, source, { lang: 'ts', sourceType: 'module' })
  const sites: Site[] = []
  visit(program, false, source, sites)
  return sites
}

function visit(value: unknown, isInside: boolean, source: string, sites: Site[]): void {
  if (Array.isArray(value)) {
    for (const one of value) visit(one, isInside, source, sites)
    return
  }
  if (!isNode(value)) return
  if (value.type.startsWith('TS') && !TYPED_VALUES.has(value.type)) return
  if (isInside) sites.push(...mutationsOf(value, source))
  const inside = isInside || FUNCTIONS.has(value.type)
  for (const [name, child] of Object.entries(value)) {
    if (name === 'typeAnnotation' || name === 'returnType' || name === 'typeArguments') continue
    visit(child, inside, source, sites)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string'
}

function mutationsOf(node: Node, source: string): Site[] {
  const text = (child: unknown) => (isNode(child) ? source.slice(child.start, child.end) : '')
  const replace = (target: unknown, replacement: string): Site[] =>
    isNode(target) ? [{ start: target.start, end: target.end, text: replacement, kind: 'expression' }] : []
  const statement = (replacement: string): Site => ({
    start: node.start,
    end: node.end,
    text: replacement,
    kind: 'statement',
  })
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return binary(node, text, replace)
    case 'IfStatement':
    case 'ConditionalExpression':
      return [...replace(node.test, 'true'), ...replace(node.test, 'false')]
    case 'UnaryExpression':
      return node.operator === '!' ? replace(node, text(node.argument)) : []
    case 'UpdateExpression': {
      const operator = SWAPS[String(node.operator)]
      const [before, after] = node.prefix ? [operator, ''] : ['', operator]
      return replace(node, `${before}${text(node.argument)}${after}`)
    }
    case 'AssignmentExpression':
      return assignment(node, text, replace)
    case 'Literal':
      if (typeof node.value === 'boolean') return replace(node, String(!node.value))
      return typeof node.value === 'number' ? replace(node, String(node.value + 1)) : []
    case 'AwaitExpression':
      return replace(node, text(node.argument))
    case 'ReturnStatement':
      return node.argument && text(node.argument) !== 'undefined' ? [statement('return undefined')] : []
    case 'ExpressionStatement':
      return isNode(node.expression) && text(node.expression).startsWith('super') ? [] : [statement('')]
    case 'ThrowStatement':
      return [statement('')]
    default:
      return []
  }
}

function binary(
  node: Node,
  text: (child: unknown) => string,
  replace: (target: unknown, replacement: string) => Site[],
): Site[] {
  const { operator, left, right } = node
  if (operator === '??') return replace(node, text(left))
  const swapped = SWAPS[String(operator)]
  if (swapped === undefined) return []
  if (operator === '+' && (isText(left) || isText(right))) return []
  const swap = replace(node, `(${text(left)}) ${swapped} (${text(right)})`)
  if (!isNode(right) || right.value !== 'allow') return swap
  // Fails open: everything that is no denial counts as an approval.
  return [...swap, ...replace(node, `(${text(left)}) ${swapped} 'deny'`)]
}

/** `+` also joins texts, where `-` would be no realistic mistake. */
function isText(node: unknown): boolean {
  return isNode(node) && (node.type === 'TemplateLiteral' || typeof node.value === 'string')
}

function assignment(
  node: Node,
  text: (child: unknown) => string,
  replace: (target: unknown, replacement: string) => Site[],
): Site[] {
  const operator = String(node.operator)
  if (operator === '??=' || operator === '||=' || operator === '&&=')
    return replace(node, `${text(node.left)} = ${text(node.right)}`)
  const swapped = SWAPS[operator]
  return swapped === undefined ? [] : replace(node, `${text(node.left)} ${swapped} ${text(node.right)}`)
}
