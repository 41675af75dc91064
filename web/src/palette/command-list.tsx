import { useMemo, useState } from 'react'
import { signOut } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { preferences } from '../app/preferences.ts'
import type { Route } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { cycleTheme } from '../app/theme.ts'
import { agents as agentStore } from '../inbox/agents-store.ts'
import { titleOf } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { nodes } from '../nodes/nodes-store.ts'
import { currentSession } from '../session/current-session.ts'
import { takeFocus } from '../ui/take-focus.ts'
import { rank } from './rank.ts'
import { sessionCommands } from './session-commands.ts'

/** An entry of the palette. */
export interface Command {
  id: string
  name: string
  hint: string
  run(): void
}

const SCREENS: readonly [string, Route][] = [
  ['All sessions', { screen: 'inbox' }],
  ['New session', { screen: 'new' }],
  ['Search', { screen: 'search', query: '' }],
  ['Usage', { screen: 'usage' }],
  ['Compare agents', { screen: 'compare', ids: [] }],
  ['Notifications', { screen: 'notifications' }],
]

const NODES: readonly [string, Route] = ['Nodes', { screen: 'nodes' }]

function commandsFor(route: Route, hasNodes: boolean): Command[] {
  const screens = hasNodes ? [...SCREENS, NODES] : SCREENS
  const commands: Command[] = screens.map(([name, target]) => ({
    id: name,
    name,
    hint: 'screen',
    run: () => go(target),
  }))
  if (route.screen === 'session') {
    for (const tab of ['conversation', 'changes', 'events', 'replay'] as const)
      commands.push({
        id: tab,
        name: `This session: ${tab}`,
        hint: 'view',
        run: () => go({ ...route, tab, seq: undefined }),
      })
  }
  commands.push(
    { id: 'theme', name: 'Change theme', hint: 'appearance', run: cycleTheme },
    { id: 'docs', name: 'API reference', hint: 'page', run: () => location.assign('docs') },
    { id: 'sign out', name: 'Sign out', hint: 'account', run: () => void signOut() },
  )
  return commands
}

/** The commands and sessions that have the typed words. */
export default function CommandList({ route, onDone }: { route: Route; onDone(): void }) {
  const { records } = useStore(inbox)
  const hasNodes = useStore(nodes).length > 0
  const current = useStore(currentSession)
  const { pinned, archived } = useStore(preferences)
  const agents = useStore(agentStore)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const commands = useMemo(() => {
    const sessions = [...records.values()].map(
      (record): Command => ({
        id: record.id,
        name: titleOf(record),
        hint: record.agent,
        run: () => go({ screen: 'session', id: record.id, tab: 'conversation', seq: undefined }),
      }),
    )
    const id = current?.record.id ?? ''
    const marks = { isPinned: pinned.includes(id), isArchived: archived.includes(id) }
    const own = current ? sessionCommands(current, marks, agents) : []
    return [...own, ...commandsFor(route, hasNodes), ...sessions]
  }, [records, route, hasNodes, current, pinned, archived, agents])
  const shown = rank(commands, text, ({ name, hint }) => `${name} ${hint}`).slice(0, 12)
  const chosen = Math.min(at, shown.length - 1)
  const run = (command: Command | undefined) => {
    onDone()
    command?.run()
  }
  const move = (by: number) => setAt((chosen + by + shown.length) % Math.max(1, shown.length))
  return (
    <div>
      <input
        ref={takeFocus}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen}`}
        aria-label="Command or session"
        placeholder="Command or session"
        className="w-full rounded-none border-0 border-b border-line px-4 py-3 text-base outline-none"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') move(1)
          else if (event.key === 'ArrowUp') move(-1)
          else if (event.key === 'Enter') run(shown[chosen])
          else return
          event.preventDefault()
        }}
      />
      <div
        id="palette-list"
        role="listbox"
        aria-label="Commands"
        className="max-h-[50vh] overflow-y-auto p-1.5"
      >
        {shown.map((command, index) => (
          <div
            key={command.id}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={`flex w-full cursor-pointer gap-3 rounded-md px-2.5 py-1.5 ${index === chosen ? 'bg-raised' : ''}`}
            onPointerMove={() => setAt(index)}
            onClick={() => run(command)}
            onKeyDown={() => undefined}
          >
            <span className="min-w-0 flex-1 truncate">{command.name}</span>
            <span className="text-xs leading-6 text-soft">{command.hint}</span>
          </div>
        ))}
        {shown.length === 0 && <p className="px-3 py-4 text-center text-soft">Nothing has this name.</p>}
      </div>
    </div>
  )
}
