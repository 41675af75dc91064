import { MainstemError } from '../../model/outcome/mainstem-error.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** The URL of a server as the command line names it; without a scheme it is `https`. Tokens are sent to it. */
export function serverUrl(text: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.search || url.hash) {
    throw new MainstemError('invalid_request', `${text} is not the URL of a server`, {
      advice: 'Give a URL such as https://agents.example.com.',
    })
  }
  if (url.username || url.password) {
    throw new MainstemError('invalid_request', 'the URL contains a name or a password', {
      advice: 'Leave them out. To log in with a token, pass --token-stdin.',
    })
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new MainstemError(
      'invalid_request',
      `${text}: without TLS, others on the network can read the token`,
      {
        advice:
          `Use https, or forward a port with \`ssh -L 7380:127.0.0.1:${url.port || '80'} ${url.hostname}\` ` +
          'and log in to http://127.0.0.1:7380.',
      },
    )
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
