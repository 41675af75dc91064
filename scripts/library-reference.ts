/** The reference of the library: every export of every entry of the package with its declaration, from the compiler. */
import { readFileSync } from 'node:fs'
import type { Node } from 'typescript/unstable/ast'
import {
  isClassDeclaration,
  isExportSpecifier,
  isFunctionDeclaration,
  isTypeAliasDeclaration,
  isTypeReferenceNode,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is'
import {
  API,
  type Checker,
  type Symbol as CompilerSymbol,
  type Program,
  SymbolFlags,
} from 'typescript/unstable/sync'
import { declarationOf, type Printing } from './library-reference/declaration.ts'
import { type Documented, type ReferencePage, referencePages } from './library-reference/pages.ts'

/** The entries in the order in which they describe what several of them export. */
const PAGES: readonly (Omit<ReferencePage, 'exports'> & { entry: string })[] = [
  {
    entry: './model',
    path: 'docs/reference/model.md',
    title: 'Types of the model',
    intro:
      'Exports of `mainstem/model`: the types of events, requests, policies and records. [Events](events.md) has them as tables.',
  },
  {
    entry: '.',
    path: 'docs/reference/library.md',
    title: 'Exports of the library',
    intro:
      'Exports of `mainstem`, which runs agents in your process. [The library](../library.md) explains them with examples.',
  },
  {
    entry: './client',
    path: 'docs/reference/client.md',
    title: 'Exports of the client',
    intro:
      'Exports of `mainstem/client`, which calls a server. [The client](../client.md) explains them with examples.',
  },
  {
    entry: './client/adapters',
    path: 'docs/reference/client-adapters.md',
    title: 'Exports of the client adapters',
    intro: 'Exports of `mainstem/client/adapters`, which translate native output into the unified protocol.',
  },
  {
    entry: './client/stdio',
    path: 'docs/reference/client-stdio.md',
    title: 'Exports of the stdio transport',
    intro: 'Exports of `mainstem/client/stdio`, with which the client starts a server of its own.',
  },
  {
    entry: './testing',
    path: 'docs/reference/testing.md',
    title: 'Exports for tests',
    intro:
      'Exports of `mainstem/testing`, for tests without keys. [Testing](../testing.md) explains them with examples.',
  },
  {
    entry: './ues',
    path: 'docs/reference/ues.md',
    title: 'Exports of the ues adapters',
    intro:
      'Exports of `mainstem/ues`. [The ues protocol](../compatibility/ues.md) explains them with examples.',
  },
]

/** The pages of the reference by path. */
export function libraryReference(): Record<string, string> {
  using api = new Compiler()
  return referencePages(
    PAGES.map(({ entry, ...page }) => ({ ...page, exports: api.exportsOf(sourceOf(entry)) })),
  )
}

const manifest: { exports: Record<string, { types?: string }> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

function sourceOf(entry: string): string {
  const types = manifest.exports[entry]?.types
  if (types === undefined) throw new Error(`package.json has no types for ${entry}`)
  return types.replace('./dist/', 'src/').replace(/d\.ts$/, 'ts')
}

/** Types of the language that are no values. */
const UTILITIES: ReadonlySet<string> = new Set(['Omit', 'Partial', 'Pick', 'Readonly', 'Record', 'T'])

/** A type longer than this is shown by the names of its fields. */
const LONG = 300

class Compiler {
  readonly #api = new API({ cwd: process.cwd() })
  readonly #checker: Checker
  readonly #program: Program
  readonly #public: ReadonlySet<string>

  constructor() {
    const [project] = this.#api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects()
    if (!project) throw new Error('the compiler did not open tsconfig.json')
    this.#checker = project.checker
    this.#program = project.program
    this.#public = new Set(
      PAGES.flatMap(({ entry }) => this.#symbolsOf(sourceOf(entry)).map(({ name }) => name)),
    )
  }

  exportsOf(path: string): Documented[] {
    return this.#symbolsOf(path).map((symbol) => this.#documented(symbol))
  }

  #symbolsOf(path: string): readonly CompilerSymbol[] {
    const file = this.#program.getSourceFile(path)
    const module = file && this.#checker.getSymbolAtLocation(file)
    if (!module) throw new Error(`${path} is not a module of the project`)
    return this.#checker.getExportsOfModule(module)
  }

  #documented(exported: CompilerSymbol): Documented {
    const symbol = exported.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported
    const nodes = symbol.declarations.flatMap((one) => one.resolve() ?? [])
    const printing: Printing = {
      typeOf: (node) => this.#typeOf(node),
      isPublic: (name) => this.#public.has(name) || name in globalThis || UTILITIES.has(name),
    }
    const schema = nodes.find((node) => isVariableDeclaration(node) && this.#typeOf(node).startsWith('Zod'))
    const type = nodes.find(isTypeAliasDeclaration)
    const shown = type ? nodes.filter((node) => node !== schema) : nodes
    return {
      name: exported.name,
      id: `${symbol.declarations[0]?.path}#${symbol.name}`,
      rank: Math.min(...shown.map(rankOf)),
      doc: this.#checker.getDocumentationCommentOfSymbol(symbol).replaceAll(/\s+/g, ' '),
      isSchema: type !== undefined && schema !== undefined && !isTypeOnly(exported),
      declaration: shown.map((node) => declarationOf(this.#printed(node), printing)).join('\n'),
    }
  }

  /** The type that is printed from a schema, for an alias of it. */
  #printed(node: Node): Node {
    if (!isTypeAliasDeclaration(node) || !isTypeReferenceNode(node.type)) return node
    if (!node.type.getText().startsWith('types.')) return node
    const target = this.#checker.getSymbolAtLocation(node.type.typeName)
    return target?.declarations[0]?.resolve() ?? node
  }

  #typeOf(node: Node): string {
    const type = this.#checker.getTypeAtLocation(node)
    if (!type) throw new Error(`${node.getText()} has no type`)
    const text = this.#checker.typeToString(type)
    // The compiler cuts long types itself.
    const isLong = text.length > LONG || text.includes(' more ...')
    if (!isLong || !text.startsWith('{')) return text
    const names = this.#checker.getPropertiesOfType(type).map(({ name }) => `  ${name}: …`)
    return ['{', ...names, '}'].join('\n')
  }

  [Symbol.dispose](): void {
    this.#api.close()
  }
}

function rankOf(node: Node): number {
  if (isFunctionDeclaration(node)) return 0
  if (isClassDeclaration(node)) return 1
  return isVariableDeclaration(node) ? 2 : 3
}

function isTypeOnly({ declarations }: CompilerSymbol): boolean {
  const node = declarations[0]?.resolve()
  if (!node || !isExportSpecifier(node)) return false
  return node.isTypeOnly || /^export type/.test(node.parent.parent.getText())
}
