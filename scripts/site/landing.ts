/** The landing page of the site: the first page of the docs, with its title and first paragraph as the hero. */
export function landing(text: string, tagline: string): string {
  const [, intro, rest] = /^# .+\n\n(.+)\n\n([\s\S]+)$/.exec(text) ?? []
  if (intro === undefined || rest === undefined)
    throw new Error('docs/index.md does not begin with a title and a paragraph')
  const hero = {
    layout: 'home',
    hero: {
      name: 'Mainstem',
      text: tagline,
      tagline: intro,
      actions: [
        { theme: 'brand', text: 'Get started', link: '/guides/getting-started' },
        { theme: 'alt', text: 'What do you want to do?', link: '/#what-do-you-want-to-do' },
      ],
    },
  }
  // JSON is YAML, in which quotes and colons of the text mean nothing.
  return `---\n${JSON.stringify(hero, null, 2)}\n---\n\n${rest}`
}
