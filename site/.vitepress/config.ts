import { cpSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const site = join(dirname(fileURLToPath(import.meta.url)), '..')
const repository = join(site, '..')
/** A copy of docs/ that scripts/site.ts makes: the pages must lie beside the packages that they import. */
const pages = join(site, 'pages')

const titleOf = (path: string) => /^# (.+)$/m.exec(readFileSync(join(pages, path), 'utf8'))?.[1] ?? path
const page = (path: string, text = titleOf(path)) => ({
  text: text.replaceAll('`', ''),
  link: `/${path.replace(/(index)?\.md$/, '')}`,
})
const named = (...names: string[]) => names.map((name) => page(`${name}.md`))
const folder = (name: string) =>
  globSync(`${name}/*.md`, { cwd: pages })
    .filter((path) => !path.endsWith('index.md'))
    .sort()
    .map((path) => page(path))

/** Files outside the pages that pages link to. */
const linked = new Set<string>()

/** The address in the site of a file that is no page. The site contains a copy, so that no link leaves it. */
function fileAddress(href: string, from: string): string | undefined {
  const [path = ''] = href.split('#')
  const target = posix.join('docs', posix.dirname(from), path).replace(/\/$/, '')
  const isPage = target.startsWith('docs/') && target.endsWith('.md')
  if (/^(https?:|\/)/.test(href) || path === '' || isPage) return undefined
  const file = /\.\w+$/.test(target) ? target : `${target}/index.html`
  linked.add(target)
  return `/files/${file}`
}

export default defineConfig({
  title: 'Mainstem',
  description: 'One lossless, durable event stream for every coding agent.',
  srcDir: 'pages',
  outDir: 'dist',
  markdown: {
    config(md) {
      const { rules } = md.renderer
      const link = rules.link_open
      rules.link_open = (tokens, index, options, env, self) => {
        const token = tokens[index]
        const address = fileAddress(token?.attrGet('href') ?? '', env.relativePath ?? '')
        if (address === undefined) return link?.(tokens, index, options, env, self) ?? ''
        token?.attrSet('href', address)
        // Loaded by the browser: the router of the site knows its own pages only.
        token?.attrSet('target', '_self')
        return self.renderToken(tokens, index, options)
      }
      // Pages show text such as <model>. Only comments and footnote marks are HTML.
      const html = (content: string) =>
        /^(<!--|<\/?sup>)/.test(content) ? content : md.utils.escapeHtml(content)
      rules.html_inline = (tokens, index) => html(tokens[index]?.content ?? '')
      rules.html_block = (tokens, index) => html(tokens[index]?.content ?? '')
    },
  },
  themeConfig: {
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Guides', link: '/guides/getting-started' },
      { text: 'Reference', link: '/reference/library' },
      { text: 'FAQ', link: '/guides/faq' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'What do you want to do?', link: '/#what-do-you-want-to-do' },
          ...named('guides/getting-started', 'guides/which-api', 'guides/faq'),
        ],
      },
      {
        text: 'Guides',
        items: named(
          'guides/embed-with-approvals',
          'guides/web-app-sse',
          'guides/slack-bot',
          'guides/run-for-a-team',
          'guides/continue-later',
          'guides/hand-over',
          'guides/testing-without-keys',
          'guides/recipes',
        ),
      },
      { text: 'Interfaces', items: named('library', 'client', 'http', 'webhooks', 'cli', 'page', 'testing') },
      { text: 'Agents', items: named('agents', 'policy', 'conformance', 'agents-board') },
      { text: 'Operation', items: named('promises', 'security', 'operations', 'measured', 'performance') },
      {
        text: 'Reference',
        items: named(
          'reference/http',
          'reference/library',
          'reference/client',
          'reference/client-adapters',
          'reference/client-stdio',
          'reference/testing',
          'reference/ues',
        ),
      },
      {
        text: 'Data',
        items: named('reference/events', 'reference/outcomes', 'reference/errors', 'reference/model'),
      },
      { text: 'Migrate', collapsed: true, items: folder('migrate') },
      {
        text: 'Compatibility',
        collapsed: true,
        items: [
          page('compatibility/index.md', 'Overview'),
          ...folder('compatibility'),
          ...folder('compatibility/dialects'),
        ],
      },
      {
        text: 'Development',
        collapsed: true,
        items: named('architecture', 'add-an-agent', 'add-a-dialect', 'add-a-store', 'dependencies'),
      },
      {
        text: 'Decisions',
        collapsed: true,
        items: [page('decisions/index.md', 'Overview'), ...folder('decisions')],
      },
    ],
  },
  buildEnd({ outDir }) {
    for (const target of linked)
      cpSync(join(repository, target), join(outDir, 'files', target), { recursive: true })
  },
})
