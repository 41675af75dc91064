import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generated } from '../../scripts/schemas.ts'

const files = generated()

describe('generated from the model', () => {
  it.each(Object.keys(files))('%s is up to date', (path) => {
    expect(readFileSync(path, 'utf8')).toBe(files[path])
  })

  it('there is nothing else in the folders of generated files', () => {
    expect(globSync('docs/{schemas,reference}/*').sort()).toEqual(Object.keys(files).sort())
  })
})
