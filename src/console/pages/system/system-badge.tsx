import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { z } from 'zod';
import type { systemView } from '../../../http/api/system/system-views.ts';
import { get } from '../../api.ts';
import { MenuBadge } from '../../parts/menu-badge.tsx';
import { say, useWords, words } from '../../words.ts';

const texts = words({ one: '1 problem', some: '{count} problems' }, { one: '1 समस्या', some: '{count} समस्याएँ' });

/** How many problems the gateway has now. */
export function SystemBadge(): ReactNode {
  const w = useWords(texts);
  const { data } = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => get<z.output<typeof systemView>>('/system', signal),
    refetchInterval: 30_000,
    // Another page may be busy; the badge can wait.
    retry: false,
  });
  const count = data?.problems.length ?? 0;
  return <MenuBadge count={count} label={count === 1 ? w.one : say(w.some, { count })} isUrgent />;
}
