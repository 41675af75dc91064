import { readFileSync } from 'node:fs'

const read = (name: string) => readFileSync(`deploy/${name}`, 'utf8')

export const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ')
export const compose = read('compose.yaml')
export const cluster = read('cluster.yaml')
export const clusterConfig = read('cluster-config.json')
export const proxy = read('haproxy.cfg')
export const unit = read('mainstem.service')
export const dropIn = read('mainstem-node.conf')

/** The arguments of an instruction of the Dockerfile, from its last stage. */
export const instruction = (name: string) =>
  [...dockerfile.matchAll(new RegExp(`^\\s*${name} (.+)$`, 'gm'))].at(-1)?.[1] ?? ''

/** The values of a key of a systemd unit. */
export const settings = (text: string, key: string) =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)

/** `NAME=value` assignments. */
const variables = (texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(texts.map((text) => text.split('=', 2)))

const args: string[] = JSON.parse(instruction('CMD'))
const volumes: string[] = JSON.parse(instruction('VOLUME'))

/** What the image runs: `mainstem` with these arguments and variables. */
export const image = {
  args,
  env: variables([instruction('ENV')]),
  cwd: instruction('WORKDIR'),
  directories: [instruction('WORKDIR'), ...volumes],
}

/** What systemd runs with this unit, or with a drop-in over it. */
export function service(...units: string[]) {
  const command = units.flatMap((text) => settings(text, 'ExecStart')).at(-1) ?? ''
  return {
    args: command.split(' ').slice(1),
    env: variables(units.flatMap((text) => settings(text, 'Environment'))),
    cwd: units.flatMap((text) => settings(text, 'WorkingDirectory')).at(-1) ?? '/',
    directories: units.flatMap((text) => [
      ...settings(text, 'ReadWritePaths'),
      // systemd creates these before it starts the service.
      ...settings(text, 'StateDirectory').flatMap((names) =>
        names.split(' ').map((name) => `/var/lib/${name}`),
      ),
    ]),
  }
}
