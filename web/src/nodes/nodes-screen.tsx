import type { ServerNode } from 'mainstem/client'
import { useEffect } from 'react'
import { useStore } from '../app/store.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { duration, shortPath } from '../text/format.ts'
import { Badge, type BadgeLook } from '../ui/badge.tsx'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { loadNodes, nodes } from './nodes-store.ts'

const READ_MS = 3_000

const STATES: Record<ServerNode['state'], { look: BadgeLook; meaning: string }> = {
  ready: { look: 'good', meaning: 'It takes new sessions.' },
  draining: { look: 'ask', meaning: 'It is stopping, and takes no new sessions.' },
  lost: { look: 'bad', meaning: 'It did not renew its registration in time. Other nodes take its sessions.' },
}

const COLUMNS = ['Node', 'State', 'Running', 'Processes', 'Labels', 'Directories', 'Heartbeat', 'Version']

/** The servers that share the store. It is read again while it is shown. */
export default function NodesScreen() {
  const all = useStore(nodes)
  useEffect(() => {
    void loadNodes()
    const timer = setInterval(() => void loadNodes(), READ_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <div className="h-full overflow-y-auto p-4 sm:p-6">
      <div className="mx-auto max-w-4xl space-y-4">
        <h1 className="text-lg font-semibold">Nodes</h1>
        {all.length === 0 ? (
          <OneServer />
        ) : (
          <ScrollRegion label="Nodes" className="overflow-x-auto rounded-lg border border-line bg-panel">
            <table className="w-full text-left text-sm">
              <thead className="text-xs text-soft">
                <tr>
                  {COLUMNS.map((name) => (
                    <th key={name} scope="col" className="px-3 py-1.5 font-normal">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {all.map((node) => (
                  <NodeRow key={node.name} node={node} />
                ))}
              </tbody>
            </table>
          </ScrollRegion>
        )}
      </div>
    </div>
  )
}

function OneServer() {
  return (
    <p className="text-soft">
      One server works here. Servers that share a PostgreSQL store take over each other's sessions and appear
      in this list: start each with its address in the variable <code>MAINSTEM_STORE</code>.
    </p>
  )
}

function NodeRow({ node }: { node: ServerNode }) {
  const { records } = useStore(inbox)
  const { name, state, self, url, labels, roots, processes, maxProcesses, seenMs, version } = node
  const running = [...records.values()].filter((one) => one.node === name && one.status === 'busy').length
  const { look, meaning } = STATES[state]
  return (
    <tr className="border-t border-line align-baseline">
      <th scope="row" className="px-3 py-1.5 font-medium whitespace-nowrap">
        {url === undefined ? (
          name
        ) : (
          <a href={url} className="text-accent underline">
            {name}
          </a>
        )}
        {self && <span className="text-xs font-normal text-soft"> serves this page</span>}
      </th>
      <td className="px-3 py-1.5" title={meaning}>
        <Badge look={look}>{state}</Badge>
      </td>
      <td className="px-3 py-1.5 tabular-nums">{running}</td>
      <td className="px-3 py-1.5 whitespace-nowrap tabular-nums">
        {processes} of {maxProcesses}
      </td>
      <td className="px-3 py-1.5">{labels.join(', ') || '–'}</td>
      <td className="px-3 py-1.5">
        {roots.map((root) => (
          <code key={root} className="block text-xs whitespace-nowrap" title={root}>
            {shortPath(root)}
          </code>
        ))}
      </td>
      <td className="px-3 py-1.5 whitespace-nowrap tabular-nums">{duration(seenMs)} ago</td>
      <td className="px-3 py-1.5">{version}</td>
    </tr>
  )
}
