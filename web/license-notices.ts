import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin, Rolldown } from 'vite'

interface Manifest {
  name: string
  version: string
  license: string
}

/** The folder of the package that a file belongs to. */
const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//

/**
 * Writes the licences of all packages whose code, styles or fonts are in the page into one file beside them, and names
 * it in the document. The list is that of the bundle, so a new dependency cannot be forgotten.
 */
export function licenseNotices(): Plugin {
  let fileName: string | undefined
  return {
    name: 'license-notices',
    apply: 'build',
    // Before the document is written.
    enforce: 'pre',
    generateBundle(_, bundle) {
      const styles = [...this.getModuleIds()].filter((id) => id.endsWith('.css')).flatMap(importedBy)
      const folders = new Set([...bundledFiles(bundle), ...styles].flatMap(packageOf))
      const notices = [...folders].map(noticeOf).sort()
      const source = `The page contains code of these packages.\n\n${notices.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`
      fileName = this.getFileName(this.emitFile({ type: 'asset', name: 'licenses.txt', source }))
    },
    transformIndexHtml: {
      order: 'post',
      handler: () => [
        {
          tag: 'link',
          attrs: { rel: 'license', href: `./${fileName}`, type: 'text/plain' },
          injectTo: 'head',
        },
      ],
    },
  }
}

/** The files whose content is in the bundle; modules without any code left are not. */
function bundledFiles(bundle: Rolldown.OutputBundle): string[] {
  return Object.values(bundle).flatMap((output) =>
    output.type === 'asset'
      ? output.originalFileNames.map((path) => join(import.meta.dirname, path))
      : Object.entries(output.modules).flatMap(([id, { renderedLength }]) =>
          renderedLength > 0 ? [id] : [],
        ),
  )
}

/** What a style sheet imports from packages: the bundler sees only the result. */
function importedBy(path: string): string[] {
  const imports = readFileSync(path, 'utf8').matchAll(/@(?:import|plugin)\s+["']([^."'][^"']*)["']/g)
  return [...imports].map(([, name = '']) => join(import.meta.dirname, '../node_modules', name, 'index.css'))
}

function packageOf(path: string): string[] {
  const [, folder] = PACKAGE.exec(path) ?? []
  return folder === undefined || !existsSync(join(folder, 'package.json')) ? [] : [folder]
}

function noticeOf(folder: string): string {
  const { name, version, license }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const [file] = globSync('{LICENSE,LICENCE,license,licence,COPYING}*', { cwd: folder })
  if (file === undefined) throw new Error(`${name} has no licence file in ${dirname(folder)}`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}`
}
