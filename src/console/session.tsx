import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import type { ApiScope } from '../http/api/api-keys.ts';
import type { Session } from '../http/session/session-views.ts';
import { get, keepCsrf, whenSignedOut } from './api.ts';
import { Failure, Loading } from './parts/states.tsx';

/** Who is signed in, for everything below. */
export interface SignedIn extends Session {
  readonly user: NonNullable<Session['user']>;
}

const SessionContext = createContext<SignedIn | undefined>(undefined);

/** Who is signed in. Only below `SessionGate`. */
export function useSession(): SignedIn {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('nobody is signed in here');
  return session;
}

/** Whether the user may do what needs a scope: pages hide what would be refused. */
export function useMay(scope: ApiScope): boolean {
  return useSession().scopes.includes(scope);
}

/** Shows `children` to who is signed in, and how to sign in to anybody else. */
export function SessionGate({
  children,
  signIn,
}: {
  readonly children: ReactNode;
  readonly signIn: (session: Session) => ReactNode;
}): ReactNode {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['session'],
    queryFn: () => get<Session>('/session'),
    staleTime: 60_000,
  });
  whenSignedOut(() => void client.invalidateQueries({ queryKey: ['session'] }));
  if (error !== null && data === undefined) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  keepCsrf(data.csrf);
  const { user } = data;
  return user === null ? signIn(data) : <SessionContext value={{ ...data, user }}>{children}</SessionContext>;
}
