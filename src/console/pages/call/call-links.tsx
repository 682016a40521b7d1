import { ActionIcon, Anchor, Group, Text, Tooltip } from '@mantine/core';
import { ArrowLeft, ChevronDown, ChevronUp, Link2 } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useActions } from '../../parts/actions.ts';
import { listAddress, placeInList } from '../../parts/call-list.ts';
import { say, useWords, words } from '../../words.ts';
import type { Player } from './player.ts';

const texts = words(
  {
    list: 'Calls',
    next: 'Next call',
    previous: 'Previous call',
    place: '{at} of {of}',
    link: 'Copy a link to this second',
    linked: 'Copied: it opens here',
  },
  {
    list: 'कॉल',
    next: 'अगली कॉल',
    previous: 'पिछली कॉल',
    place: '{of} में से {at}',
    link: 'इस क्षण का लिंक कॉपी करें',
    linked: 'कॉपी हुआ: यहीं खुलेगा',
  },
);

/** Back to the list, and on to its neighbours: J and K. */
export function CallLinks({ callId }: { readonly callId: string }): ReactNode {
  const w = useWords(texts);
  const [, navigate] = useLocation();
  const place = placeInList(callId);
  // Going back leads to the list, however many calls were looked through.
  const go = (to: string | undefined): void => {
    if (to !== undefined) navigate(`/calls/${encodeURIComponent(to)}`, { replace: true });
  };
  const { before, after } = place ?? {};
  useActions([
    ...(after === undefined ? [] : [{ name: w.next, keys: 'j', run: () => go(after) }]),
    ...(before === undefined ? [] : [{ name: w.previous, keys: 'k', run: () => go(before) }]),
  ]);
  return (
    <Group gap="xs" mb={4} wrap="nowrap">
      <Anchor component={Link} href={listAddress()} size="sm" c="dimmed" underline="hover">
        <Group gap={4} wrap="nowrap" component="span">
          <ArrowLeft size={14} aria-hidden />
          {w.list}
        </Group>
      </Anchor>
      {place === undefined ? null : (
        <>
          <Text size="xs" c="dimmed" className="figures" ml="auto">
            {say(w.place, { at: place.at, of: place.of })}
          </Text>
          <ActionIcon.Group>
            <ActionIcon variant="default" aria-label={w.previous} disabled={before === undefined} onClick={() => go(before)}>
              <ChevronUp size={14} aria-hidden />
            </ActionIcon>
            <ActionIcon variant="default" aria-label={w.next} disabled={after === undefined} onClick={() => go(after)}>
              <ChevronDown size={14} aria-hidden />
            </ActionIcon>
          </ActionIcon.Group>
        </>
      )}
    </Group>
  );
}

/** Moves the player to the second in the address (`?at=12.3`), once. */
export function useLinkedSecond(player: Player): void {
  const search = useSearch();
  // The address changes, too, when a link is copied: the sound goes on.
  const [seconds] = useState(() => Number(new URLSearchParams(search).get('at') ?? Number.NaN));
  useEffect(() => {
    if (Number.isFinite(seconds) && seconds > 0) player.seek(seconds * 1000);
  }, [player, seconds]);
}

/** Copies the page's address with the second at which the sound stands. */
export function LinkButton({ player }: { readonly player: Player }): ReactNode {
  const w = useWords(texts);
  const [, navigate] = useLocation();
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    const path = `${location.pathname.replace(/^\/console/u, '')}?at=${(player.atMs / 1000).toFixed(1)}`;
    navigate(path, { replace: true });
    // Pages that came over plain http have no clipboard: the address bar has the link.
    if (isSecureContext) await navigator.clipboard.writeText(`${location.origin}/console${path}`);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  useActions([{ name: w.link, keys: 'l', run: () => void copy() }]);
  return (
    <Tooltip label={isCopied ? w.linked : w.link} events={{ hover: true, focus: true, touch: false }}>
      <ActionIcon variant="default" aria-label={w.link} onClick={() => void copy()}>
        <Link2 size={14} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
