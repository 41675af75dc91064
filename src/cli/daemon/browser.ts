import { spawn } from 'node:child_process'
import { once } from 'node:events'

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Whether the desktop opened the link. */
export async function openInBrowser(link: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, link], { stdio: 'ignore' })
  try {
    const [code] = await once(child, 'exit')
    return code === 0
  } catch {
    // The program is not installed.
    return false
  }
}
