import { checkSignIn, signIn } from './client.ts'
import { LoginScreen } from './login-screen.tsx'
import { useLoginLink } from './navigation.ts'
import { Shell } from './shell.tsx'
import { OtherPrincipalScreen, SignInScreen, UnreachableScreen } from './sign-in-screen.tsx'
import { useStore } from './store.ts'

export function App() {
  const state = useStore(signIn)
  const link = useLoginLink()
  switch (state.state) {
    case 'checking':
      return <p className="p-6 text-center text-soft">Loading…</p>
    case 'out':
      return <SignInScreen reason={state.reason} />
    case 'unreachable':
      return <UnreachableScreen reason={state.reason} onRetry={() => void checkSignIn()} />
    case 'other':
      return <OtherPrincipalScreen reason={state.reason} ticket={state.ticket} />
    case 'in':
      return link ? (
        <LoginScreen key={link.digest} link={link} principal={state.server.principal} />
      ) : (
        <Shell />
      )
    default:
      return state satisfies never
  }
}
