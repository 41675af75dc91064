import {
  type ClassDeclaration,
  type Node,
  type SignatureDeclaration,
  SyntaxKind,
} from 'typescript/unstable/ast'
import {
  isClassDeclaration,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isGetAccessorDeclaration,
  isMethodDeclaration,
  isPropertyDeclaration,
  isSetAccessorDeclaration,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is'

export interface Printing {
  /** The type of a declaration that writes none. */
  typeOf: (node: Node) => string
  /** True for a type that callers have: an export of an entry, or a type of the language. */
  isPublic: (name: string) => boolean
}

const DOC = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/(?=\s*$)/

/** The doc comment directly above a declaration, as it is in the source. */
function docOf(node: Node): string {
  const file = node.getSourceFile()
  const start = node.getStart(file)
  return DOC.exec(file.text.slice(node.pos, start))?.[0] ?? ''
}

/** A declaration as a type file has it: without bodies, values and private members. */
export function declarationOf(node: Node, printing: Printing): string {
  if (isClassDeclaration(node)) return classOf(node, printing)
  if (isFunctionDeclaration(node)) return withoutExport(signatureOf(node, node.body, printing))
  if (isVariableDeclaration(node)) return `const ${node.name.getText()}: ${printing.typeOf(node)}`
  return withoutExport(node.getText())
}

const withoutExport = (text: string) => text.replace(/^export (?:declare )?/, '')

/** The text of a function up to its body, with the type that it returns. */
function signatureOf(node: SignatureDeclaration, body: Node | undefined, { typeOf }: Printing): string {
  const file = node.getSourceFile()
  const head = file.text
    .slice(node.getStart(file), body ? body.getStart(file) : node.end)
    .replace(/^(export )?(?:override )?(?:async )?\*?/, '$1')
    .trim()
  return node.type || isConstructorDeclaration(node) ? head : `${head}: ${typeOf(node)}`
}

function classOf(node: ClassDeclaration, printing: Printing): string {
  const file = node.getSourceFile()
  const head = file.text.slice(node.getStart(file), node.members.pos).replace(/\{$/, '').trim()
  const overloaded = new Set(
    node.members.flatMap((one) => (isMethodDeclaration(one) && !one.body ? [one.name.getText()] : [])),
  )
  const members = node.members
    .filter((member) => !isHidden(member))
    .filter((one) => !(isMethodDeclaration(one) && one.body && overloaded.has(one.name.getText())))
    .flatMap((member) => {
      const text = memberOf(member, printing)
      return text === undefined ? [] : [[docOf(member), text].filter((part) => part !== '').join('\n  ')]
    })
  return `${withoutExport(head)} {\n${members.map((member) => `  ${member}`).join('\n')}\n}`
}

function isHidden(member: Node): boolean {
  if (isConstructorDeclaration(member)) return hasHidingModifier(member)
  if (!isMethodDeclaration(member) && !isPropertyDeclaration(member) && !isGetAccessorDeclaration(member))
    return true
  return /^[#[]/.test(member.name.getText())
    ? !/^\[Symbol\./.test(member.name.getText())
    : hasHidingModifier(member)
}

function hasHidingModifier({
  modifiers,
}: {
  modifiers?: Iterable<{ kind: SyntaxKind }> | undefined
}): boolean {
  return [...(modifiers ?? [])].some(
    ({ kind }) => kind === SyntaxKind.PrivateKeyword || kind === SyntaxKind.ProtectedKeyword,
  )
}

function memberOf(member: Node, printing: Printing): string | undefined {
  if (isConstructorDeclaration(member)) {
    const text = signatureOf(member, member.body, printing)
    // Only we can call a constructor with a type that no entry exports.
    return [...text.matchAll(/\b[A-Z]\w*\b/g)].every(([name]) => printing.isPublic(name)) ? text : undefined
  }
  if (isSetAccessorDeclaration(member)) return undefined
  if (isMethodDeclaration(member) || isGetAccessorDeclaration(member))
    return signatureOf(member, member.body, printing)
  if (!isPropertyDeclaration(member)) return undefined
  const file = member.getSourceFile()
  const modifiers = [...(member.modifiers ?? [])].map((one) => `${one.getText(file)} `).join('')
  const optional = member.postfixToken ? member.postfixToken.getText(file) : ''
  return `${modifiers}${member.name.getText(file)}${optional}: ${member.type?.getText(file) ?? printing.typeOf(member)}`
}
