import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  CELL_MARKER,
  changedFiles,
  filesBelow,
  processesIn,
  processesOf,
  remoteEnds,
} from '../../conformance/traces.ts'

describe('a process of a cell', () => {
  it('is found by its mark while it lives, and not after', async () => {
    const env = { PATH: process.env.PATH ?? '', [CELL_MARKER]: 'marked' }
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], { env })
    await once(child.stdout, 'data')
    expect(processesOf('marked')).toMatchObject([{ pid: child.pid, parent: process.pid }])
    expect(processesOf('mark')).toEqual([])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(processesOf('marked')).toEqual([])
  })
})

describe('a process without the mark of its cell', () => {
  it('is found by the folder that it works in', async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'traces-')))
    const child = spawn('sleep', ['60'], { cwd, env: { PATH: process.env.PATH ?? '' } })
    try {
      await once(child, 'spawn')
      expect(processesIn(cwd)).toMatchObject([{ pid: child.pid, command: 'sleep 60' }])
      expect(processesIn(tmpdir()).map(({ pid }) => pid)).not.toContain(child.pid)
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(cwd, { recursive: true })
    }
    expect(processesIn(cwd)).toEqual([])
  })
})

describe('a connection', () => {
  const line = (remote: string, state: string, inode: string) =>
    `   0: 0100007F:1F90 ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1`
  const away = '08080808:01BB'
  const awayBySix = 'B80D0120000000000000000001000000:01BB'

  it.each([
    ['that leads away', away, '01', [away]],
    ['that is being opened', away, '02', [away]],
    ['by IPv6 that leads away', awayBySix, '01', [awayBySix]],
    ['that only listens', '00000000:0000', '0A', []],
    ['to this machine', '0100007F:01BB', '01', []],
    ['by IPv6 to this machine', '00000000000000000000000001000000:01BB', '01', []],
    ['by IPv6 to an IPv4 address of this machine', '0000000000000000FFFF00000100007F:01BB', '01', []],
  ])('%s is detected', (_name, remote, state, found) => {
    expect(remoteEnds(line(remote, state, '77'), new Set(['77']))).toEqual(found)
  })

  it('of another program does not count', () => {
    expect(remoteEnds(line(away, '01', '78'), new Set(['77']))).toEqual([])
  })
})

describe('files', () => {
  it('that are new or changed are found, but for those that may be there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'traces-'))
    try {
      mkdirSync(join(folder, 'kept'))
      mkdirSync(join(folder, 'deep', 'down'), { recursive: true })
      const kept = [join(folder, 'kept')]
      const before = filesBelow([folder], kept)
      writeFileSync(join(folder, 'deep', 'down', 'new'), '')
      writeFileSync(join(folder, 'kept', 'new'), '')
      const after = filesBelow([folder, join(folder, 'nowhere')], kept)
      expect(changedFiles(before, after)).toEqual([join(folder, 'deep', 'down', 'new')])
      expect(changedFiles(after, after)).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
