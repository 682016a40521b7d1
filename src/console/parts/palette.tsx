/* oxlint-disable jsx-a11y/prefer-tag-over-role -- no element of HTML is a text with a list of kinds and hints below it */
import { Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { useLocation } from 'wouter';
import type { z } from 'zod';
import type { BotListView } from '../../http/api/bots/bot-views.ts';
import type { callPageView } from '../../http/api/calls/call-views.ts';
import { get, query } from '../api.ts';
import { menuWords } from '../pages/menu-words.ts';
import type { ConsolePage } from '../pages/pages.ts';
import { useMay } from '../session.tsx';
import { useWords, words } from '../words.ts';
import { useOfferedActions } from './actions.ts';
import { useFormat } from './format.ts';
import classes from './palette.module.css';

const texts = words(
  {
    title: 'Find anything',
    hint: 'A page, a bot, a call’s id or number, or what to do',
    results: 'Results',
    page: 'Page',
    bot: 'Bot',
    call: 'Call',
    action: 'Action',
    none: 'Nothing is called so',
  },
  {
    title: 'कुछ भी खोजें',
    hint: 'पृष्ठ, बॉट, कॉल की आईडी या नंबर, या कोई कार्य',
    results: 'परिणाम',
    page: 'पृष्ठ',
    bot: 'बॉट',
    call: 'कॉल',
    action: 'कार्य',
    none: 'इस नाम का कुछ नहीं है',
  },
);

interface Entry {
  readonly kind: 'page' | 'bot' | 'call' | 'action';
  readonly id: string;
  readonly name: string;
  readonly hint?: string | undefined;
  readonly run: () => void;
}

const MOST_OF_A_KIND = 6;

/** Finds pages, bots, calls and what can be done, by a few letters of their names, with the keyboard alone. */
export function Palette({ pages, close }: { readonly pages: readonly ConsolePage[]; readonly close: () => void }): ReactNode {
  const w = useWords(texts);
  const id = useId();
  const [typed, setTyped] = useState('');
  const [place, setPlace] = useState(0);
  const found = useFound(pages, typed.trim());
  const at = Math.min(place, Math.max(0, found.length - 1));
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    close();
    entry.run();
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => setPlace((at + 1) % Math.max(1, found.length)),
    ArrowUp: () => setPlace((at + found.length - 1) % Math.max(1, found.length)),
    Enter: () => choose(found[at]),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = event.nativeEvent.isComposing ? undefined : keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <Modal.Root opened onClose={close} size="lg" padding={0} yOffset="12vh" lockScroll={false} transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label={w.title}>
        <TextInput
          data-autofocus
          variant="unstyled"
          size="md"
          className={classes['input']}
          role="combobox"
          aria-label={w.title}
          aria-expanded
          aria-controls={id}
          aria-activedescendant={found[at] === undefined ? undefined : `${id}-${at}`}
          placeholder={w.hint}
          autoComplete="off"
          value={typed}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value);
            setPlace(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div id={id} role="listbox" aria-label={w.results} className={classes['results']} tabIndex={-1}>
          {found.map((entry, index) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the input has the keys
            <div
              key={`${entry.kind} ${entry.id}`}
              id={`${id}-${index}`}
              ref={(line) => (index === at ? line?.scrollIntoView({ block: 'nearest' }) : undefined)}
              role="option"
              aria-selected={index === at}
              className={classes['result']}
              onClick={() => choose(entry)}
            >
              <span className={classes['name']}>{entry.name}</span>
              <span className={classes['hint']}>{entry.hint ?? w[entry.kind]}</span>
            </div>
          ))}
        </div>
        {found.length > 0 ? null : (
          <Text size="sm" c="dimmed" p="md" component="output" display="block">
            {w.none}
          </Text>
        )}
      </Modal.Content>
    </Modal.Root>
  );
}

/** Everything that fits what was typed: pages and actions at once, bots and calls as the gateway answers. */
function useFound(pages: readonly ConsolePage[], typed: string): readonly Entry[] {
  const names = useWords(menuWords);
  const [, navigate] = useLocation();
  const actions = useOfferedActions();
  const bots = useBotNames();
  const calls = useCallEntries(typed);
  const wanted = plain(typed);
  const fits = ({ name }: Entry): boolean => wanted.split(' ').every((part) => plain(name).includes(part));
  const pageEntries = pages.flatMap(({ path, menu }): Entry[] =>
    menu === undefined ? [] : [{ kind: 'page', id: path, name: names[menu.name], run: () => navigate(path) }],
  );
  const botEntries = bots.map((name): Entry => ({
    kind: 'bot',
    id: name,
    name,
    run: () => navigate(`/bots/${encodeURIComponent(name)}`),
  }));
  const actionEntries = actions
    // Moving by a row is for keys alone, and the palette is open.
    .filter(({ keys }) => keys === undefined || !['mod+k', 'j', 'k'].includes(keys))
    .map(({ name, run }): Entry => ({ kind: 'action', id: name, name, run }));
  return [
    ...pageEntries.filter(fits),
    ...actionEntries.filter(fits),
    ...(wanted === '' ? [] : botEntries.filter(fits).slice(0, MOST_OF_A_KIND)),
    ...calls,
  ];
}

function useBotNames(): readonly string[] {
  const may = useMay('bots:read');
  const { data } = useQuery({
    queryKey: ['bots'],
    enabled: may,
    queryFn: ({ signal }) => get<BotListView>('/bots', signal),
  });
  return data?.bots.map(({ name }) => name) ?? [];
}

/** An id or a phone number, in whole: numbers are looked up by their hash. */
const [CALL_ID, NUMBER] = [/^(?:call|att|[0-9a-f]{8})[\w-]{4,}$/iu, /^\+?[\d ()-]{5,}$/u];

function useCallEntries(typed: string): readonly Entry[] {
  const format = useFormat();
  const [, navigate] = useLocation();
  const [wanted] = useDebouncedValue(typed, 200);
  const [mayRead, mayNumbers] = [useMay('calls:read'), useMay('numbers:read')];
  const isNumber = mayNumbers && NUMBER.test(wanted);
  const { data = [] } = useQuery({
    queryKey: ['palette', wanted],
    enabled: mayRead && (isNumber || CALL_ID.test(wanted)),
    retry: false,
    async queryFn({ signal }) {
      if (!isNumber) return [await get<FoundCall>(`/calls/${encodeURIComponent(wanted)}`, signal)];
      const { calls } = await get<z.output<typeof callPageView>>(
        `/calls${query({ number: wanted, limit: MOST_OF_A_KIND })}`,
        signal,
      );
      return calls;
    },
  });
  return typed === wanted
    ? data.map(({ id, bot, from, to, startedAt }) => ({
        kind: 'call',
        id,
        name: `${from} → ${to} · ${bot}`,
        hint: format.time(startedAt),
        run: () => navigate(`/calls/${encodeURIComponent(id)}`),
      }))
    : [];
}

type FoundCall = Pick<z.output<typeof callPageView>['calls'][number], 'id' | 'bot' | 'from' | 'to' | 'startedAt'>;

function plain(text: string): string {
  return text.normalize('NFKC').toLocaleLowerCase();
}
