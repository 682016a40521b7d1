import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../parts/format.ts';
import { useOpenCount } from './queries.ts';

/** How many calls wait for a look, beside the page's name in the menu; nothing where none does. */
export function InboxBadge(): ReactNode {
  const format = useFormat();
  const { data } = useOpenCount();
  if (data === undefined || data.count === 0) return null;
  return (
    <Badge size="sm" variant="default" className="figures">
      {format.number(data.count)}
      {data.more ? '+' : ''}
    </Badge>
  );
}
