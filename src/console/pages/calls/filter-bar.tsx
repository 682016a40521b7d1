import { Autocomplete, Button, Collapse, Group, Pill, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, type SubmitEvent, useId, useState } from 'react';
import type { AnsweredBy } from '../../../config/answered-by.ts';
import { useMay } from '../../session.tsx';
import { say, useWords } from '../../words.ts';
import type { Call } from './columns.tsx';
import { type FilterName, type Filters, FILTERS } from './filters.ts';
import { answererWords, callsWords, outcomeWords } from './words.ts';

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

/** What is searched for: words at once, everything else below, and what is set as pills that can be taken off. */
export function FilterBar({ filters, calls, narrow, onSearch, children }: FilterBarProps): ReactNode {
  const w = useWords(callsWords);
  const outcomes: Readonly<Record<string, string>> = useWords(outcomeWords);
  const answerers = useWords(answererWords);
  const seesNumbers = useMay('numbers:read');
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
  const seen = (of: (call: Call) => string | null): string[] =>
    [...new Set(calls.map((call) => of(call) ?? ''))].filter((value) => value !== '').toSorted((a, b) => a.localeCompare(b));
  const field = (name: FilterName) => ({
    label: w[name],
    value: draft[name] ?? '',
    size: 'xs' as const,
    onChange: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value),
  });
  const choice = (name: FilterName, data: readonly string[]) => ({
    label: w[name],
    value: draft[name] ?? '',
    size: 'xs' as const,
    data: [...data],
    limit: 50,
    onChange: (value: string) => set(name, value),
  });
  const shownValue = (name: FilterName, value: string): string => {
    if (name === 'endReason') return outcomes[value] ?? value;
    if (name === 'answeredBy') return answerers[value as AnsweredBy] ?? value;
    if (name === 'direction') return value === 'outbound' ? w.outbound : w.inbound;
    return value;
  };
  const pillWord = (name: FilterName): string => (name === 'text' ? w.textShort : w[name]);
  const on = FILTERS.flatMap((name) => (filters[name] === undefined ? [] : [{ name, value: filters[name] }]));
  const inPanel = on.filter(({ name }) => name !== 'text').length;
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
            size="sm"
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
        <Collapse expanded={opened} id={panel}>
          <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="xs" pt="xs">
            <TextInput {...field('from')} type="date" />
            <TextInput {...field('to')} type="date" />
            <TextInput
              {...field('number')}
              type="tel"
              disabled={!seesNumbers}
              description={seesNumbers ? undefined : w.numberHidden}
              inputWrapperOrder={['label', 'input', 'description']}
            />
            <Autocomplete
              {...choice(
                'bot',
                seen(({ bot }) => bot),
              )}
            />
            <Autocomplete
              {...choice(
                'carrier',
                seen(({ carrier }) => carrier),
              )}
            />
            <Select
              label={w.direction}
              size="xs"
              value={draft.direction ?? ''}
              allowDeselect={false}
              data={[
                { value: '', label: w.any },
                { value: 'inbound', label: w.inbound },
                { value: 'outbound', label: w.outbound },
              ]}
              onChange={(value) => set('direction', value)}
            />
            <Select
              label={w.endReason}
              size="xs"
              value={draft.endReason ?? ''}
              searchable
              allowDeselect={false}
              data={[
                { value: '', label: w.any },
                ...[...new Set([...Object.keys(outcomes), ...seen(({ endReason }) => endReason), ...given(draft.endReason)])].map(
                  (value) => ({ value, label: outcomes[value] ?? value }),
                ),
              ]}
              onChange={(value) => set('endReason', value)}
            />
            <Select
              label={w.answeredBy}
              size="xs"
              value={draft.answeredBy ?? ''}
              allowDeselect={false}
              data={[{ value: '', label: w.any }, ...Object.entries(answerers).map(([value, label]) => ({ value, label }))]}
              onChange={(value) => set('answeredBy', value)}
            />
            <Autocomplete
              {...choice(
                'disposition',
                seen(({ disposition }) => disposition),
              )}
            />
            <Autocomplete
              {...choice(
                'campaign',
                seen(({ campaign }) => campaign),
              )}
            />
            <TextInput {...field('minReplyMs')} type="number" min={0} />
            <TextInput {...field('minDurationS')} type="number" min={0} />
            <TextInput {...field('maxDurationS')} type="number" min={0} />
            <TextInput {...field('variable')} pattern="[^:]+:.+" placeholder="day:Tuesday" />
          </SimpleGrid>
        </Collapse>
        {on.length === 0 ? null : (
          <Group gap={6} pt="xs">
            {on.map(({ name, value }) => (
              <Pill
                key={name}
                withRemoveButton
                onRemove={() => onSearch({ ...filters, [name]: '' })}
                removeButtonProps={{ 'aria-label': say(w.remove, { name: pillWord(name) }), 'aria-hidden': false, tabIndex: 0 }}
              >
                {pillWord(name)}: {shownValue(name, value)}
              </Pill>
            ))}
            <Button size="compact-xs" variant="subtle" onClick={() => onSearch({})}>
              {w.clear}
            </Button>
          </Group>
        )}
      </form>
    </search>
  );
}

function given(value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [value];
}
