import { expect, it } from 'vitest'
import { deadLinks, outsideHosts } from '../../scripts/site/links.ts'

const site = (index: string) =>
  new Map([
    ['index.html', index],
    ['guides/start.html', '<h2 id="install">Install</h2>'],
    ['files/examples/index.html', ''],
    ['files/examples/a.ts', ''],
  ])

it.each([
  '<a href="/guides/start.html#install">',
  '<a href="./guides/start">',
  '<a class="x" href="/files/examples">',
  '<a href="/files/examples/a.ts">',
  '<a href="https://example.com/missing">',
])('%s is a link that works', (html) => {
  expect(deadLinks(site(html))).toEqual([])
})

it.each([
  ['<a href="/guides/stop.html">', 'index.html: /guides/stop.html does not exist'],
  ['<a href="guides/start.html#remove">', 'index.html: guides/start.html#remove has no such heading'],
  ['<img src="/picture.svg">', 'index.html: /picture.svg does not exist'],
])('%s is reported', (html, fault) => {
  expect(deadLinks(site(html))).toEqual([fault])
})

it('a script or style of another host is reported, a link to one is not', () => {
  expect(outsideHosts(site('<script src="https://cdn.example.com/a.js"></script>'))).toHaveLength(1)
  expect(outsideHosts(site('<link rel="stylesheet" href="//fonts.example.com/a.css">'))).toHaveLength(1)
  expect(
    outsideHosts(site('<a href="https://example.com">x</a><img src="data:image/png;base64,AA">')),
  ).toEqual([])
})
