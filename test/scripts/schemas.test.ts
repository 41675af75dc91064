import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generated } from '../../scripts/schemas.ts'

const files = generated()

describe('generated from the model', () => {
  it.each(Object.keys(files))('%s is up to date', (path) => {
    expect(readFileSync(path, 'utf8')).toBe(files[path])
  })

  it('there is nothing else in the folders of generated files', () => {
    const found = globSync('docs/{schemas,reference}/*', { exclude: ['docs/schemas/*.printed.json'] })
    expect(found.sort()).toEqual(Object.keys(files).sort())
  })
})
