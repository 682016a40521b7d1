import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentType, createContext, type ReactNode, Suspense, useContext } from 'react';
import type { ApiScope } from '../http/api/system/api-keys.ts';
import type { Session } from '../http/session/session-views.ts';
import { get, keepCsrf, post, Refused, whenSignedOut } from './api.ts';
import { Failure, Loading, PageBoundary } from './parts/states.tsx';

/** The signed-in user, for everything below. */
export interface SignedIn extends Session {
  readonly user: NonNullable<Session['user']>;
}

const SessionContext = createContext<SignedIn | undefined>(undefined);

/** The signed-in user. Only below `SessionGate`. */
export function useSession(): SignedIn {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('no user is signed in here');
  return session;
}

/** Whether the user may do what needs a scope: pages hide what would be refused. */
export function useMay(scope: ApiScope): boolean {
  return useSession().scopes.includes(scope);
}

/** Begins or ends a session: data loaded before belonged to another user. */
export function openSession(client: QueryClient, session: Session): void {
  signInProblem = undefined;
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  client.setQueryData(['session'], session);
}

/** The code of a sign-in link, until it was used. */
let code: string | undefined;
/** What kept a link from signing in, or what the issuer's answer was refused for. */
let signInProblem: Error | string | undefined;

/** Reads the code of a sign-in link, and takes it out of the address and the history at once. */
export function takeSignInCode(): void {
  const given = new URLSearchParams(location.hash.slice(1));
  code = given.get('code') ?? undefined;
  signInProblem = given.get('refused') ?? undefined;
  if (code !== undefined || signInProblem !== undefined)
    history.replaceState(history.state, '', location.pathname + location.search);
}

/** The session, after a sign-in link in the address was used. */
async function fetchSession(client: QueryClient): Promise<Session> {
  if (code === undefined) {
    const session = await get<Session>('/session');
    // Who was signed in on this page reads why they are not any longer.
    if (session.user === null && client.getQueryData<Session>(['session'])?.user) signInProblem = 'expired';
    return session;
  }
  try {
    const session = await post<Session>('/session/link', { code });
    code = undefined;
    return session;
  } catch (error) {
    // A gateway that does not answer has not used it up.
    if (!(error instanceof Refused)) throw error;
    code = undefined;
    signInProblem = error;
    return get<Session>('/session');
  }
}

/** Shows `children` to a signed-in user, and the sign-in page otherwise. */
export function SessionGate({
  children,
  signIn: SignIn,
}: {
  readonly children: ReactNode;
  /** @param problem why a link, or the issuer, did not sign in */
  readonly signIn: ComponentType<{ readonly session: Session; readonly problem: Error | string | undefined }>;
}): ReactNode {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['session'],
    queryFn: () => fetchSession(client),
    staleTime: 60_000,
  });
  whenSignedOut(() => void client.invalidateQueries({ queryKey: ['session'] }));
  if (error !== null && data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  keepCsrf(data.csrf);
  const { user } = data;
  return user === null ? (
    <PageBoundary>
      <Suspense fallback={<Loading />}>
        <SignIn session={data} problem={signInProblem} />
      </Suspense>
    </PageBoundary>
  ) : (
    <SessionContext value={{ ...data, user }}>{children}</SessionContext>
  );
}
