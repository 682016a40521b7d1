import type { ReactNode } from 'react';
import { MenuBadge } from '../../parts/menu-badge.tsx';
import { say, useWords, words } from '../../words.ts';
import { useOpenCount } from './queries.ts';

const texts = words({ one: '1 call', some: '{count} calls' }, { one: '1 कॉल', some: '{count} कॉल' });

/** How many calls wait for a look. */
export function InboxBadge(): ReactNode {
  const w = useWords(texts);
  const { data } = useOpenCount();
  const count = data?.count ?? 0;
  return <MenuBadge count={count} label={count === 1 ? w.one : say(w.some, { count })} />;
}
