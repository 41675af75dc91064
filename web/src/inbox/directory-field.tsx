import { useId, useMemo } from 'react'
import { signIn } from '../app/client.ts'
import { useStore } from '../app/store.ts'
import { inbox } from './inbox-store.ts'

/** Directories of earlier sessions that are offered. */
const OFFERED = 20

interface DirectoryFieldProps {
  id?: string
  name: string
  onChange?(cwd: string): void
}

/** The directory of a session; the one of the server if it is empty. It offers those of earlier sessions. */
export function DirectoryField({ id, name, onChange }: DirectoryFieldProps) {
  const state = useStore(signIn)
  const { records } = useStore(inbox)
  const list = useId()
  const home = state.state === 'in' ? state.server.cwd : ''
  const known = useMemo(
    () => [...new Set([...records.values()].map(({ cwd }) => cwd))].slice(0, OFFERED),
    [records],
  )
  return (
    <>
      <input
        id={id}
        name={name}
        list={list}
        className="w-full font-mono"
        placeholder={home}
        onChange={({ target }) => onChange?.(target.value.trim())}
      />
      <datalist id={list}>
        {known.map((cwd) => (
          <option key={cwd} value={cwd} />
        ))}
      </datalist>
    </>
  )
}
