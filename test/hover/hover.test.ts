import { readFileSync } from 'node:fs'
import { type ClassDeclaration, type Node, SyntaxKind } from 'typescript/unstable/ast'
import { isClassDeclaration, isMethodDeclaration, isPropertyDeclaration } from 'typescript/unstable/ast/is'
import { API, type Symbol as CompilerSymbol, SymbolFlags } from 'typescript/unstable/sync'
import { afterAll, describe, expect, it } from 'vitest'

// The compiler itself answers, through the functions that editors call on hover.
const api = new API({ cwd: process.cwd() })
afterAll(() => api.close())

const project = api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects()[0]
if (!project) throw new Error('the compiler did not open tsconfig.json')
const { checker, program } = project

const ENTRIES = [
  'src/index.ts',
  'src/ues/index.ts',
  'src/client/index.ts',
  'src/client/adapters/index.ts',
  'src/client/stdio/index.ts',
  'src/testing/index.ts',
  'src/model/index.ts',
]

describe('on hover an editor shows', () => {
  it.each(ENTRIES)('a doc comment for every export of %s and each of its fields', (entry) => {
    expect(exportsOf(entry).flatMap(undocumented)).toEqual([])
  })

  it('the name of an event and not an anonymous union', () => {
    const names = ['ToolStarted', 'TurnCompleted', 'InitEvent', 'DonePayload']
    expect(hovered('test/hover/sample.ts')).toEqual(names)
  })
})

function exportsOf(entry: string): CompilerSymbol[] {
  const file = program.getSourceFile(entry)
  const module = file && checker.getSymbolAtLocation(file)
  if (!module) throw new Error(`${entry} is not a module of the project`)
  return checker.getExportsOfModule(module).map(targetOf)
}

function targetOf(symbol: CompilerSymbol): CompilerSymbol {
  return symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** The names of an export and of its fields that have no doc comment. */
function undocumented(symbol: CompilerSymbol): string[] {
  const documented = implementedNames(symbol)
  const fields = checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    .filter((field) => isPublic(field) && !isDocumented(field) && !documented.has(field.name))
    .map(({ name }) => `${symbol.name}.${name}`)
  return isDocumented(symbol) ? fields : [symbol.name, ...fields]
}

function isDocumented(symbol: CompilerSymbol): boolean {
  return checker.getDocumentationCommentOfSymbol(symbol) !== ''
}

/** True for a field that we declare and that a caller can name. */
function isPublic({ name, declarations }: CompilerSymbol): boolean {
  const nodes = declarations
    .filter(({ path }) => !path.includes('/node_modules/'))
    .map((one) => one.resolve())
  return nodes.length > 0 && !/^__[#@]/.test(name) && !nodes.some((node) => node && isProtected(node))
}

function isProtected(node: Node): boolean {
  if (!isMethodDeclaration(node) && !isPropertyDeclaration(node)) return false
  return node.modifiers?.some(({ kind }) => kind === SyntaxKind.ProtectedKeyword) ?? false
}

/** Documented fields of the interfaces that a class implements. Editors show the comments of these on the class. */
function implementedNames(symbol: CompilerSymbol): ReadonlySet<string> {
  const names = new Set<string>()
  for (const declaration of classesOf(symbol)) {
    for (const { types } of declaration.heritageClauses ?? []) {
      for (const node of types) {
        const type = checker.getTypeAtLocation(node)
        const fields = type ? checker.getPropertiesOfType(type) : []
        for (const field of fields) if (isDocumented(field)) names.add(field.name)
        const parent = type && checker.getSymbolAtLocation(node.expression)
        if (parent) for (const name of implementedNames(targetOf(parent))) names.add(name)
      }
    }
  }
  return names
}

function classesOf({ declarations }: CompilerSymbol): ClassDeclaration[] {
  return declarations.flatMap((declaration) => {
    const node = declaration.resolve()
    return node && isClassDeclaration(node) ? [node] : []
  })
}

/** The type in front of each marker of a file. */
function hovered(path: string): string[] {
  const marks = readFileSync(path, 'utf8').matchAll(/(\w+) \/\*\?\*\//g)
  return Array.from(marks, ({ index }) => {
    const type = checker.getTypeAtPosition(path, index)
    return type ? checker.typeToString(type) : 'no type'
  })
}
