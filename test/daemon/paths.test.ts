import { expect, test } from 'vitest'
import { defaultPaths } from '../../src/compose/paths.ts'

test('things are in the XDG directories', () => {
  expect(defaultPaths({}, '/home/ada')).toEqual({
    config: '/home/ada/.config/mainstem/config.json',
    data: '/home/ada/.local/share/mainstem',
  })
  expect(defaultPaths({ XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, '/home/ada')).toEqual({
    config: '/c/mainstem/config.json',
    data: '/d/mainstem',
  })
})

test('a relative XDG directory is ignored', () => {
  expect(defaultPaths({ XDG_DATA_HOME: 'data' }, '/home/ada').data).toBe('/home/ada/.local/share/mainstem')
})

test('MAINSTEM_HOME contains everything', () => {
  expect(defaultPaths({ MAINSTEM_HOME: '/srv/m', XDG_DATA_HOME: '/d' }, '/home/ada')).toEqual({
    config: '/srv/m/config.json',
    data: '/srv/m',
  })
})
