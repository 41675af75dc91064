import { escapeInvisible, type Usage } from 'mainstem/client'
import { showHidden } from './hidden.ts'

/** `3:10`, `1:02:07`. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

/** `850 ms`, `4.2 s`, `3 m 10 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} m ${Math.floor(ms / 1000) % 60} s`
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor(ms / 60_000) % 60} m`
}

/** `now`, `4m`, `3h`, `2d`. */
export function age(ms: number): string {
  if (ms < 60_000) return 'now'
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}m`
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)}h`
  return `${Math.floor(ms / 86_400_000)}d`
}

/** `812`, `12.4k`, `1.3M`. */
export function count(value: number): string {
  if (value < 1000) return String(value)
  if (value < 100_000) return `${(value / 1000).toFixed(1)}k`
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

/** Cost with as many decimals as it needs; a sum that misses calls is a minimum. */
export function cost({ costUsd, partial }: Usage): string | undefined {
  if (costUsd === undefined) return undefined
  const digits = costUsd !== 0 && costUsd < 0.01 ? 4 : 2
  return `${partial ? '≥ ' : ''}$${costUsd.toFixed(digits)}`
}

export function tokens({ total, partial }: Usage): string | undefined {
  return total === undefined ? undefined : `${partial ? '≥ ' : ''}${count(total)} tokens`
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)} kB`
  return `${(value / 1024 / 1024).toFixed(1)} MB`
}

/** The last part of a path, for narrow places; the whole path belongs into a title. */
export function folderName(path: string): string {
  return showHidden(path.split('/').findLast(Boolean) ?? path)
}

/** The end of a path, which distinguishes directories. Show the whole path in a title. */
export function shortPath(path: string): string {
  const parts = path.split('/').filter(Boolean)
  return showHidden(parts.length <= 2 ? path : `…/${parts.slice(-2).join('/')}`)
}

/** A message of the server as a sentence of the page. */
export function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}

export function jsonText(value: unknown): string {
  return escapeInvisible(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))
}
