export type SessionTab = 'conversation' | 'changes' | 'events' | 'replay'

export type Route =
  | { screen: 'inbox' }
  | { screen: 'new' }
  | { screen: 'session'; id: string; tab: SessionTab; seq: number | undefined }
  | { screen: 'search'; query: string }
  | { screen: 'usage' }
  | { screen: 'nodes' }
  | { screen: 'compare'; ids: readonly string[] }

const TABS: ReadonlySet<string> = new Set(['changes', 'events', 'replay'])

/** Routes are in the fragment, so the server has one document and a link works below any path. */
export function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const [screen, first, second, third] = path.split('/').map(decoded)
  const query = new URLSearchParams(search)
  switch (screen) {
    case 'new':
    case 'usage':
    case 'nodes':
      return { screen }
    case 'search':
      return { screen, query: query.get('q') ?? '' }
    case 'compare':
      return { screen, ids: (query.get('ids') ?? '').split(',').filter(Boolean) }
    case 'sessions':
      return first
        ? { screen: 'session', id: first, tab: tabOf(second), seq: seqOf(third) }
        : { screen: 'inbox' }
    default:
      return { screen: 'inbox' }
  }
}

function tabOf(text: string | undefined): SessionTab {
  return text !== undefined && TABS.has(text) ? (text as SessionTab) : 'conversation'
}

function seqOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A link that someone cut in the middle of an escape.
    return text
  }
}

export function hrefOf(route: Route): string {
  switch (route.screen) {
    case 'inbox':
      return '#/'
    case 'session': {
      const tab = route.tab === 'conversation' ? '' : `/${route.tab}`
      return `#/sessions/${encodeURIComponent(route.id)}${tab}${route.seq === undefined ? '' : `/${route.seq}`}`
    }
    case 'search':
      return `#/search?q=${encodeURIComponent(route.query)}`
    case 'compare':
      return `#/compare${route.ids.length > 0 ? `?ids=${route.ids.join(',')}` : ''}`
    default:
      return `#/${route.screen}`
  }
}

export const sessionHref = (id: string, tab: SessionTab = 'conversation', seq?: number): string =>
  hrefOf({ screen: 'session', id, tab, seq })
