import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { codeOf } from '../../model/outcome/mainstem-error.ts'

export interface PageFile {
  type: string
  bytes: Buffer
  gzipped: Buffer
  etag: string
}

/** The built page: its document, and the files it loads by the names that the build gave them. */
export interface PageFiles {
  document: PageFile
  assets: ReadonlyMap<string, PageFile>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

const compress = promisify(gzip)

/** Reads the built page into memory; `undefined` where it was not built. */
export async function readPageFiles(directory: string): Promise<PageFiles | undefined> {
  try {
    const names = await readdir(join(directory, 'assets'))
    const read = names.map(
      async (name) => [name, await readPageFile(join(directory, 'assets', name))] as const,
    )
    return {
      document: await readPageFile(join(directory, 'index.html')),
      assets: new Map(await Promise.all(read)),
    }
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

async function readPageFile(path: string): Promise<PageFile> {
  const bytes = await readFile(path)
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    bytes,
    gzipped: await compress(bytes),
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  }
}
