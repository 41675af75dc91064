/** An export of an entry. */
export interface Documented {
  name: string
  /** The same for the same export of another entry. */
  id: string
  /** Functions first, then classes, values and types. */
  rank: number
  doc: string
  /** True if the name is a zod schema too. */
  isSchema: boolean
  declaration: string
}

export interface ReferencePage {
  path: string
  title: string
  intro: string
  exports: readonly Documented[]
}

interface Place {
  path: string
  anchor: string
}

const NOTE = 'Generated from the sources by `npm run schemas`; edit the sources, not this page.'

/** The pages by path. What several entries export is on the first of them, and the others link to it. */
export function referencePages(pages: readonly ReferencePage[]): Record<string, string> {
  const places = new Map<string, Place>()
  const owned = pages.map((page) => {
    const own = page.exports
      .filter(({ id }) => !places.has(id))
      .toSorted((a, b) => a.rank - b.rank || compare(a.name, b.name))
    const used = new Map<string, number>()
    for (const { id, name } of own) places.set(id, { path: page.path, anchor: anchorOf(name, used) })
    return { page, own }
  })
  return Object.fromEntries(owned.map(({ page, own }) => [page.path, pageOf(page, own, places)]))
}

/** Names that differ in their case only get numbers, as GitHub and the site give them. */
function anchorOf(name: string, used: Map<string, number>): string {
  const slug = name.toLowerCase()
  const before = used.get(slug) ?? 0
  used.set(slug, before + 1)
  return before === 0 ? slug : `${slug}-${before}`
}

function pageOf(page: ReferencePage, own: readonly Documented[], places: ReadonlyMap<string, Place>): string {
  const linked = (one: Documented) => {
    const { path, anchor } = places.get(one.id) ?? { path: page.path, anchor: '' }
    const file = path === page.path ? '' : path.slice(path.lastIndexOf('/') + 1)
    return `[\`${one.name}\`](${file}#${anchor})`
  }
  const byName = new Map(page.exports.map((one) => [one.name, one]))
  const sections = own.map((one) => {
    const uses = namesIn(one.declaration).flatMap((name) => byName.get(name) ?? [])
    const others = uses.filter(({ id }) => id !== one.id).map(linked)
    return [
      `## \`${one.name}\``,
      [one.doc, ...(one.isSchema ? ['Also the zod schema of this type.'] : [])]
        .filter((part) => part !== '')
        .join(' '),
      `\`\`\`ts\n${one.declaration}\n\`\`\``,
      ...(others.length === 0 ? [] : [`Uses ${others.join(', ')}.`]),
    ].join('\n\n')
  })
  const isOwn = new Set(own.map(({ id }) => id))
  const elsewhere = page.exports
    .filter(({ id }) => !isOwn.has(id))
    .toSorted((a, b) => compare(a.name, b.name))
  const rest =
    elsewhere.length === 0
      ? []
      : [`## More exports\n\nThis entry also exports ${elsewhere.map(linked).join(', ')}.`]
  return `${[`# ${page.title}`, NOTE, page.intro, ...sections, ...rest].join('\n\n')}\n`
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** The names in a declaration, without those in its comments. */
function namesIn(declaration: string): string[] {
  const code = declaration.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').replaceAll(/'[^'\n]*'/g, '')
  return [...new Set(code.match(/\b[A-Za-z]\w*\b/g))].sort()
}
