import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { z } from 'zod';
import type { liveCallsView } from '../../../http/api/calls/call-views.ts';
import { get } from '../../api.ts';
import { isInTrouble } from '../../live/trouble.ts';
import { MenuBadge } from '../../parts/menu-badge.tsx';
import { say, useWords, words } from '../../words.ts';

const texts = words(
  { one: '1 live call', some: '{count} live calls', trouble: '{calls}, {count} in trouble' },
  { one: '1 लाइव कॉल', some: '{count} लाइव कॉल', trouble: '{calls}, {count} में समस्या' },
);

export const LIVE_CALLS_KEY = ['live-calls'];

/** How many calls there are now; urgent where one of them is in trouble. */
export function LiveBadge(): ReactNode {
  const w = useWords(texts);
  const { data } = useQuery({
    queryKey: LIVE_CALLS_KEY,
    queryFn: ({ signal }) => get<z.output<typeof liveCallsView>>('/live-calls', signal),
    // The Live page follows every change; a number in the menu can wait.
    refetchInterval: 15_000,
    retry: false,
  });
  const calls = data?.calls ?? [];
  const troubled = calls.filter(({ health }) => isInTrouble(health)).length;
  const count = calls.length === 1 ? w.one : say(w.some, { count: calls.length });
  return (
    <MenuBadge
      count={calls.length}
      label={troubled === 0 ? count : say(w.trouble, { calls: count, count: troubled })}
      isUrgent={troubled > 0}
    />
  );
}
