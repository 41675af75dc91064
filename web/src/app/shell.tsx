import { lazy, Suspense, useEffect } from 'react'
import { inbox } from '../inbox/inbox-store.ts'
import { NewSession } from '../inbox/new-session.tsx'
import { Overview } from '../inbox/overview.tsx'
import { SessionList } from '../inbox/session-list.tsx'
import { loadNodes, nodes } from '../nodes/nodes-store.ts'
import { Palette } from '../palette/palette.tsx'
import { answerGate } from '../session/answer-gate.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { Help } from '../ui/help.tsx'
import { useKeys } from '../ui/keys.ts'
import { Notice } from '../ui/notice.tsx'
import { Toasts } from '../ui/toasts.tsx'
import { signIn } from './client.ts'
import { go, useRoute } from './navigation.ts'
import { askToNotify, notifyOfChanges, openNotified, permission } from './notifications.ts'
import { usePageTitle } from './page-title.ts'
import { hrefOf, type Route } from './route.ts'
import { useStore } from './store.ts'
import { cycleTheme, theme } from './theme.ts'
import { attentive } from './visible.ts'

/** Loaded at once if the address is a session, and otherwise when the first screen is there. */
const loadSession = () => import('../session/session-screen.tsx')
const SessionScreen = lazy(loadSession)
const SearchScreen = lazy(() => import('../search/search-screen.tsx'))
const UsageScreen = lazy(() => import('../usage/usage-screen.tsx'))
const NodesScreen = lazy(() => import('../nodes/nodes-screen.tsx'))
const NotificationsScreen = lazy(() => import('../notify/notifications-screen.tsx'))
const CompareScreen = lazy(() => import('../compare/compare-screen.tsx'))

/** The frame of every screen: the list of sessions on the left, the screen on the right; on a phone one at a time. */
export function Shell() {
  const route = useRoute()
  usePageTitle(route)
  const watched = useStore(attentive)
  // In the background, the list is updated only if notifications are on.
  const follows = useStore(permission) === 'granted' || watched
  useEffect(() => {
    if (!follows) return
    void inbox.follow()
    return () => inbox.stop()
  }, [follows])
  useEffect(notifyOfChanges, [])
  useEffect(openNotified, [])
  useEffect(() => void loadNodes(), [])
  useEffect(() => void loadSession(), [])
  useKeys({
    n: () => go({ screen: 'new' }),
    '/': () => go({ screen: 'search', query: '' }),
    r: () => answerGate.selectNext(),
  })
  const listOnly = route.screen === 'inbox'
  return (
    <div className="flex h-full flex-col">
      <DegradedBanner />
      <div className="flex min-h-0 flex-1">
        <aside
          className={`min-h-0 w-full flex-col border-r border-line bg-side md:flex md:w-76 md:shrink-0 ${listOnly ? 'flex max-md:border-r-0' : 'hidden'}`}
        >
          <TopBar route={route} />
          <SessionList route={route} />
        </aside>
        <main className={`min-h-0 min-w-0 flex-1 ${listOnly ? 'max-md:hidden' : ''}`}>
          <Suspense fallback={<p className="p-6 text-center text-soft">Loading…</p>}>
            <ErrorBoundary key={route.screen === 'session' ? route.id : route.screen}>
              <div className="flex h-full flex-col">
                {!listOnly && route.screen !== 'session' && <BackLink />}
                <div className="min-h-0 flex-1">
                  <Screen route={route} />
                </div>
              </div>
            </ErrorBoundary>
          </Suspense>
        </main>
      </div>
      <Palette route={route} />
      <Help />
      <Toasts />
    </div>
  )
}

/** Says why nothing happens, on every screen. */
function DegradedBanner() {
  const { degraded } = useStore(inbox)
  if (degraded === undefined) return null
  return (
    <div className="px-3 pt-3">
      <Notice level="error">
        The server has not been able to write its store since {new Date(degraded).toLocaleTimeString()}: no
        turn makes progress until it can. Its log has the reason.
      </Notice>
    </div>
  )
}

function FirstOrNext() {
  const { records, loaded } = useStore(inbox)
  return <NewSession first={loaded && records.size === 0} />
}

function Screen({ route }: { route: Route }) {
  switch (route.screen) {
    case 'inbox':
      return (
        <div className="h-full overflow-y-auto">
          <Overview />
        </div>
      )
    case 'new':
      return (
        <div className="mx-auto h-full w-full max-w-3xl overflow-y-auto p-4 sm:p-6">
          <FirstOrNext />
        </div>
      )
    case 'session':
      return <SessionScreen key={route.id} id={route.id} tab={route.tab} seq={route.seq} />
    case 'usage':
      return <UsageScreen />
    case 'nodes':
      return <NodesScreen />
    case 'notifications':
      return <NotificationsScreen />
    case 'compare':
      return <CompareScreen ids={route.ids} />
    case 'search':
      return <SearchScreen query={route.query} />
    default:
      return route satisfies never
  }
}

/** On a phone instead of the bar of the list, which the screen hides. */
function BackLink() {
  return (
    <div className="flex items-center gap-2 px-4 pt-3 text-sm sm:px-6 md:hidden">
      <a href="#/" className="text-soft hover:text-ink">
        ← All sessions
      </a>
      <OfflineBadge />
    </div>
  )
}

const LINKS: readonly (readonly [name: string, target: Route])[] = [
  ['Search', { screen: 'search', query: '' }],
  ['Usage', { screen: 'usage' }],
  ['Compare', { screen: 'compare', ids: [] }],
  ['Notifications', { screen: 'notifications' }],
]
const NODES: (typeof LINKS)[number] = ['Nodes', { screen: 'nodes' }]

function TopBar({ route }: { route: Route }) {
  const look = useStore(theme)
  const links = useStore(nodes).length > 0 ? [...LINKS, NODES] : LINKS
  return (
    <header className="px-3 pt-2.5 pb-2">
      <div className="flex items-center gap-2">
        <a href="#/" className="font-semibold">
          Mainstem
        </a>
        <Account />
        <OfflineBadge />
        <Button
          look="quiet"
          className="ml-auto"
          onClick={cycleTheme}
          aria-label={`Theme: ${look}`}
          title={`Theme: ${look}`}
        >
          {look === 'dark' ? '☾' : look === 'light' ? '☀' : '◐'}
        </Button>
        <a
          href={hrefOf({ screen: 'new' })}
          className="rounded-md bg-accent px-2.5 py-1 font-medium text-accent-ink"
        >
          New
        </a>
      </div>
      <nav aria-label="Screens" className="-mx-1.5 mt-1 flex flex-wrap items-center text-sm">
        {links.map(([name, target]) => (
          <a
            key={name}
            href={hrefOf(target)}
            aria-current={route.screen === target.screen ? 'page' : undefined}
            className={`rounded-md px-1.5 py-0.5 hover:bg-raised hover:text-ink ${route.screen === target.screen ? 'text-ink' : 'text-soft'}`}
          >
            {name}
          </a>
        ))}
        <NotifyButton />
      </nav>
    </header>
  )
}

/** Shown while the list of sessions cannot be followed. */
function OfflineBadge() {
  const { online, error } = useStore(inbox)
  return online ? null : <Badge look="bad">{error === undefined ? 'offline' : 'offline, retrying'}</Badge>
}

/** Who is signed in. Without authentication there is no one to name. */
function Account() {
  const state = useStore(signIn)
  if (state.state !== 'in' || !state.server.authentication) return null
  const { principal } = state.server
  return (
    <span className="min-w-0 truncate text-sm text-soft" title={`Signed in as ${principal}`}>
      <span className="sr-only">Signed in as </span>
      {principal}
    </span>
  )
}

function NotifyButton() {
  const state = useStore(permission)
  if (state !== 'default') return null
  return (
    <Button
      look="quiet"
      className="ml-auto"
      onClick={() => void askToNotify()}
      title="Notify me when a session needs me or ends"
    >
      Notify me
    </Button>
  )
}
