export type SessionTab = 'conversation' | 'changes' | 'events' | 'replay'

export type Route =
  | { screen: 'inbox' }
  | { screen: 'new' }
  /** `request`: the one of the open requests that is shown first. */
  | { screen: 'session'; id: string; tab: SessionTab; seq: number | undefined; request?: string }
  | { screen: 'search'; query: string }
  | { screen: 'usage' }
  | { screen: 'nodes' }
  | { screen: 'notifications' }
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
    case 'notifications':
      return { screen }
    case 'search':
      return { screen, query: query.get('q') ?? '' }
    case 'compare':
      return { screen, ids: (query.get('ids') ?? '').split(',').filter(Boolean) }
    case 'sessions':
      return first ? sessionRoute([first, second, third], query) : { screen: 'inbox' }
    default:
      return { screen: 'inbox' }
  }
}

function sessionRoute(
  [id, tab, seq]: [id: string, tab: string | undefined, seq: string | undefined],
  query: URLSearchParams,
): Route {
  const request = query.get('request')
  const named = request === null ? {} : { request }
  return { screen: 'session', id, tab: tabOf(tab), seq: seqOf(seq), ...named }
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
      const seq = route.seq === undefined ? '' : `/${route.seq}`
      const request = route.request === undefined ? '' : `?request=${encodeURIComponent(route.request)}`
      return `#/sessions/${encodeURIComponent(route.id)}${tab}${seq}${request}`
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
