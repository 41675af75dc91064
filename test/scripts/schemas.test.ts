import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generated } from '../../scripts/schemas.ts'

const files = generated()

describe('generated files', () => {
  it.each(Object.keys(files))('%s is up to date', (path) => {
    expect(readFileSync(path, 'utf8')).toBe(files[path])
  })

  it('are the only files in their folders', () => {
    const folders = ['docs/{schemas,reference}/*', 'src/**/*.types.ts']
    const found = globSync(folders, { exclude: ['docs/schemas/*.printed.json'] })
    expect(found.sort()).toEqual(Object.keys(files).sort())
  })
})
