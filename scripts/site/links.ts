import { posix } from 'node:path'

/** The files of a built site by path, with the text of each page. */
type Files = ReadonlyMap<string, string>

const attributes = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`<[^>]+\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value)

const isOutside = (href: string) => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(href)

/** The file that a web server answers an address with. */
function fileAt(files: Files, path: string): string | undefined {
  const bare = path.replace(/^\//, '')
  return [bare, posix.join(bare, 'index.html'), `${bare}.html`].find((one) => files.has(one))
}

/** Links of the pages to files, or to places in a page, that do not exist. */
export function deadLinks(files: Files): string[] {
  return [...files].flatMap(([page, html]) => {
    const hrefs = [...attributes(html, 'href'), ...attributes(html, 'src')]
    const local = [...new Set(hrefs)].filter((href) => href !== '' && !isOutside(href))
    return local.flatMap((href) => {
      const { pathname, hash } = new URL(href, `http://site/${page}`)
      const file = fileAt(files, decodeURIComponent(pathname))
      if (file === undefined) return [`${page}: ${href} does not exist`]
      const anchor = decodeURIComponent(hash.slice(1))
      if (anchor === '' || !file.endsWith('.html')) return []
      return attributes(files.get(file) ?? '', 'id').includes(anchor)
        ? []
        : [`${page}: ${href} has no such heading`]
    })
  })
}

/** Scripts, styles, fonts and images that a page would load from another host. */
export function outsideHosts(files: Files): string[] {
  return [...files].flatMap(([page, html]) => {
    const links = [...html.matchAll(/<link[^>]+href="([^"]*)"/g)].map(([, href = '']) => href)
    const loaded = [...links, ...attributes(html, 'src')].filter(
      (href) => isOutside(href) && !href.startsWith('data:'),
    )
    return loaded.map((href) => `${page}: loads ${href}`)
  })
}
