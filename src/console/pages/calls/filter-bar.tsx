import { Button, Chip, Collapse, Group, Pill, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, type SubmitEvent, useId, useState } from 'react';
import { SLOW_REPLY_MS, useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import type { Call } from './columns.tsx';
import { FilterPanel } from './filter-panel.tsx';
import { type FilterName, type Filters, FILTERS } from './filters.ts';
import { reasonWords } from '../inbox/words.ts';
import { answererWords, callsWords, outcomeWords, resultWords } from './words.ts';

export interface FilterBarProps {
  readonly filters: Filters;
  /** Calls that are loaded: their values are offered. */
  readonly calls: readonly Call[];
  readonly onSearch: (filters: Filters) => void;
  /** Whether the panel is in the way of what was found. */
  readonly narrow: boolean;
  /** Stands beside the search. */
  readonly children: ReactNode;
}

/** What calls are looked through for most: one press each. */
const QUICK = [
  { name: 'interrupted', value: 'true' },
  { name: 'notUnderstood', value: 'true' },
  { name: 'minReplyMs', value: String(SLOW_REPLY_MS) },
] as const;

const YES_NO = ['interrupted', 'cutOff', 'notUnderstood', 'optedOut'] as const;

/** What is searched for: words and what is often wanted at once, everything else below, and what is set as pills that can be taken off. */
export function FilterBar({ filters, calls, narrow, onSearch, children }: FilterBarProps): ReactNode {
  const w = useWords(callsWords);
  const panel = useId();
  const [opened, { toggle, close }] = useDisclosure();
  const [draft, setDraft] = useState(filters);
  const [written, setWritten] = useState(filters);
  // The address changed by itself: the back button, a saved search.
  if (written !== filters) {
    setWritten(filters);
    setDraft(filters);
  }
  const set = (name: FilterName, value: string | null): void => setDraft((before) => ({ ...before, [name]: value ?? '' }));
  const inPanel = FILTERS.filter((name) => name !== 'text' && filters[name] !== undefined).length;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (narrow) close();
    onSearch(draft);
  };
  return (
    <search>
      <form onSubmit={submit}>
        <Group gap="xs" align="end">
          <TextInput
            flex="1 1 240px"
            type="search"
            aria-label={w.text}
            placeholder={w.text}
            title={w.textHint}
            value={draft.text ?? ''}
            onChange={(event) => set('text', event.currentTarget.value)}
          />
          <Button type="submit">{w.apply}</Button>
          <Group gap="xs">
            <Button variant="default" onClick={toggle} aria-expanded={opened} aria-controls={panel}>
              {inPanel === 0 ? w.filters : say(w.filtersOn, { count: inPanel })}
            </Button>
            {children}
          </Group>
        </Group>
        <Group gap={6} pt="xs">
          {QUICK.map(({ name, value }) => (
            <Chip
              key={name}
              size="xs"
              variant="outline"
              checked={filters[name] === value}
              onChange={(on) => onSearch({ ...filters, [name]: on ? value : '' })}
            >
              {name === 'minReplyMs' ? w.slowOnes : w[name]}
            </Chip>
          ))}
        </Group>
        <Collapse expanded={opened} id={panel}>
          <FilterPanel draft={draft} calls={calls} set={set} />
        </Collapse>
        <Pills filters={filters} onSearch={onSearch} />
      </form>
    </search>
  );
}

/** What is set, each with a way to take it off; what has a chip of its own needs no pill. */
function Pills({ filters, onSearch }: Pick<FilterBarProps, 'filters' | 'onSearch'>): ReactNode {
  const w = useWords(callsWords);
  const format = useFormat();
  const names: Partial<Record<FilterName, Readonly<Record<string, string>>>> = {
    endReason: useWords(outcomeWords),
    answeredBy: useWords(answererWords),
    result: useWords(resultWords),
    attention: useWords(reasonWords),
    direction: { inbound: w.inbound, outbound: w.outbound },
    ...Object.fromEntries(YES_NO.map((name) => [name, { true: w.yes, false: w.no }])),
  };
  const on = FILTERS.flatMap((name) => {
    const value = filters[name];
    return value === undefined || QUICK.some((each) => each.name === name && each.value === value) ? [] : [{ name, value }];
  });
  if (Object.keys(filters).length === 0) return null;
  const valueText = (name: FilterName, value: string): string => {
    if (name === 'minReplyMs') return format.duration(Number(value));
    if (name === 'from' || name === 'to') return format.day(value);
    return names[name]?.[value] ?? value;
  };
  const nameText = (name: FilterName): string =>
    name === 'text' ? w.textShort : name === 'minReplyMs' ? w.slowestAtLeast : w[name];
  return (
    <Group gap={6} pt="xs">
      {on.map(({ name, value }) => (
        <Pill
          key={name}
          withRemoveButton
          onRemove={() => onSearch({ ...filters, [name]: '' })}
          removeButtonProps={{ 'aria-label': say(w.remove, { name: nameText(name) }), 'aria-hidden': false, tabIndex: 0 }}
        >
          {nameText(name)}: {valueText(name, value)}
        </Pill>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={() => onSearch({})}>
        {w.clear}
      </Button>
    </Group>
  );
}
