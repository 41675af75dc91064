import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Lockfile, missingPackages, unhashed } from '../../scripts/lockfile.ts'

const text = readFileSync('package-lock.json', 'utf8')

it('the lockfile names no registry', () => {
  const resolved = [...text.matchAll(/"resolved": "(.*)"/g)].map(([, from]) => from)
  expect(resolved).toEqual(['runtime'])
})

it('the lockfile names the packages of every platform', () => {
  const lock: Lockfile = JSON.parse(text)
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100)
  expect(Object.keys(missingPackages(lock))).toEqual([])
})

it('every package has the hash of its content, except some of other platforms', () => {
  const lock: Lockfile = JSON.parse(text)
  const others = unhashed(lock).map((path) => lock.packages[path])
  expect(others.length).toBeLessThanOrEqual(29)
  for (const locked of others) expect(locked).toMatchObject({ optional: true, dev: true })
})

it('a package of another platform that is left out is added with its platform', () => {
  const lock: Lockfile = {
    packages: {
      'node_modules/tool': {
        dev: true,
        optionalDependencies: { '@tool/linux-x64-musl': '1.2.3', '@tool/here': '1.0.0' },
      },
      'node_modules/@tool/here': { version: '1.0.0' },
    },
  }
  expect(missingPackages(lock)).toEqual({
    'node_modules/@tool/linux-x64-musl': {
      version: '1.2.3',
      dev: true,
      optional: true,
      cpu: ['x64'],
      libc: ['musl'],
      os: ['linux'],
    },
  })
})
