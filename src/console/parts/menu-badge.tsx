import { VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from '../shell.module.css';

/** How much waits on a page, at the end of its line in the menu; nothing at zero. @param label what is counted, for screen readers: `2 problems` */
export function MenuBadge({
  count,
  label,
  isUrgent = false,
}: {
  readonly count: number;
  readonly label: string;
  /** Something is wrong, not only waiting. */
  readonly isUrgent?: boolean;
}): ReactNode {
  if (count === 0) return null;
  return (
    <span className={classes['badge']} data-urgent={isUrgent || undefined}>
      <span aria-hidden>{count > 99 ? '99+' : count}</span>
      <VisuallyHidden>{label}</VisuallyHidden>
    </span>
  );
}
