import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { privateDirectory, readPrivate, withDraft } from './private-file.ts'

/**
 * The address of the server that uses a data directory, for programs of the same user. A killed server leaves its
 * address behind, so read it only while another process holds the store.
 */
export function addressIn(directory: string): Promise<string | undefined> {
  return readPrivate(pathIn(directory)).then((text) => text?.trim().replace(ANY_ADDRESS, loopback))
}

export async function writeAddress(directory: string, url: string): Promise<void> {
  const path = pathIn(directory)
  await privateDirectory(directory)
  return withDraft(path, `${url}\n`, (draft) => rename(draft, path))
}

export function removeAddress(directory: string): Promise<void> {
  return rm(pathIn(directory), { force: true })
}

/** A server on all interfaces is reached at the loopback address. */
const ANY_ADDRESS = /\/\/(?:0\.0\.0\.0|\[::\]):/
const loopback = (address: string) => (address.includes('[') ? '//[::1]:' : '//127.0.0.1:')

const pathIn = (directory: string) => join(directory, 'address')
