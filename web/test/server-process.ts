/** `node server-process.ts <data> <port> <page>`: a server in a separate process, for a test to kill. */
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'

const [data = '', port = '0', pageDirectory = ''] = process.argv.slice(2)
const config = await loadConfig({
  flags: { data, port: Number(port), cwd: data },
  environment: {},
  cwd: data,
})
const server = await serve({ config, report: (thrown) => console.error(thrown), pageDirectory })
console.log(server.url, server.tokenFile?.token)
