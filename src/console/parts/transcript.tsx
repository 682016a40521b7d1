import { Button } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useWords, words } from '../words.ts';
import classes from './transcript.module.css';

const texts = words({ toNow: 'Jump to now' }, { toNow: 'अभी पर जाएँ' });

/** Lines of a conversation in a frame that follows the newest one until somebody scrolls up. */
export function Transcript({
  label,
  isLog = false,
  children,
}: {
  readonly label: string;
  /** A screen reader reads each new line. */
  readonly isLog?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const w = useWords(texts);
  const frame = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  useLayoutEffect(() => {
    if (isFollowing) frame.current?.scrollTo({ top: frame.current.scrollHeight });
  });
  return (
    <div className={classes['transcript']}>
      <section
        ref={frame}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
        tabIndex={0}
        role={isLog ? 'log' : undefined}
        aria-label={label}
        className={classes['log']}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < 40)
        }
      >
        {children}
      </section>
      {isFollowing ? null : (
        <Button size="compact-sm" variant="filled" className={classes['to-now']} onClick={() => setFollowing(true)}>
          {w.toNow}
        </Button>
      )}
    </div>
  );
}

/** What one side said, or did. */
export function Said({
  side,
  who,
  at,
  isNow,
  isGrowing = false,
  isUnread = false,
  children,
}: {
  readonly side: 'caller' | 'bot';
  readonly who: string;
  /** When, or what leads there. */
  readonly at?: ReactNode;
  /** It sounds now. */
  readonly isNow?: boolean;
  /** More words of it come. */
  readonly isGrowing?: boolean;
  /** A screen reader passes it over. */
  readonly isUnread?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div
      className={classes['line']}
      data-side={side}
      data-now={isNow}
      data-partial={isGrowing || undefined}
      aria-hidden={isUnread || undefined}
    >
      <span className={classes['who']}>{who}</span>
      <div className={classes['text']}>
        {children}
        {isGrowing ? <span aria-hidden className={classes['caret']} /> : null}
      </div>
      <span className={classes['at']}>{at}</span>
    </div>
  );
}

/** What happened between what was said. */
export function Told({ at, children }: { readonly at?: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <div className={classes['line']} data-side="event">
      <span />
      <span className={classes['text']}>{children}</span>
      <span className={classes['at']}>{at}</span>
    </div>
  );
}
