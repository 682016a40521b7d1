import { ActionIcon, Button, Checkbox, Group, Menu, Popover, Stack, Text, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { type ReactNode, type SubmitEvent, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { say, useWords } from '../../words.ts';
import { type ColumnName, COLUMNS } from './columns.tsx';
import { callsWords } from './words.ts';

/** Which columns are shown; kept in this browser. */
export function useShownColumns(): readonly [ReadonlySet<ColumnName>, (name: ColumnName, on: boolean) => void] {
  const [names, setNames] = useLocalStorage<readonly ColumnName[]>({
    key: 'offhook.calls.columns',
    defaultValue: COLUMNS.filter(({ shown }) => shown).map(({ name }) => name),
    getInitialValueInEffect: false,
  });
  const change = (name: ColumnName, on: boolean): void =>
    setNames((before) => (on ? [...before, name] : before.filter((each) => each !== name)));
  const shown = useMemo(() => new Set(names), [names]);
  return [shown, change];
}

export function ColumnsMenu({
  shown,
  onChange,
}: {
  readonly shown: ReadonlySet<ColumnName>;
  readonly onChange: (name: ColumnName, on: boolean) => void;
}): ReactNode {
  const w = useWords(callsWords);
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Button variant="default">{w.columns}</Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={w.columns}>
        <Stack gap={6}>
          {COLUMNS.map(({ name, word }) => (
            <Checkbox
              key={name}
              size="xs"
              label={w[word]}
              checked={shown.has(name)}
              disabled={shown.has(name) && shown.size === 1}
              onChange={(event) => onChange(name, event.currentTarget.checked)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** @param query of the API, with `?` where there is any */
export function ExportMenu({ query, count }: { readonly query: string; readonly count: string }): ReactNode {
  const w = useWords(callsWords);
  const address = (format: string): string => `/api/calls/export${query}${query === '' ? '?' : '&'}format=${format}`;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default">{w.export}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{say(w.exportHint, { count })}</Menu.Label>
        <Menu.Item component="a" href={address('csv')} download>
          {w.exportCsv}
        </Menu.Item>
        <Menu.Item component="a" href={address('jsonl')} download>
          {w.exportJsonl}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface SavedSearch {
  readonly name: string;
  /** As in the address, without `?`. */
  readonly search: string;
}

/** Searches by name; kept in this browser. */
export function SavedSearches({ search }: { readonly search: string }): ReactNode {
  const w = useWords(callsWords);
  const [, navigate] = useLocation();
  const [opened, setOpened] = useState(false);
  const [name, setName] = useState('');
  const [saved, setSaved] = useLocalStorage<readonly SavedSearch[]>({
    key: 'offhook.calls.searches',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const save = (event: SubmitEvent): void => {
    // It stands in the form of the search.
    event.preventDefault();
    event.stopPropagation();
    if (name.trim() === '') return;
    setSaved((before) => [...before.filter((each) => each.name !== name.trim()), { name: name.trim(), search }]);
    setName('');
  };
  return (
    <Popover position="bottom-end" width={300} trapFocus opened={opened} onChange={setOpened}>
      <Popover.Target>
        <Button variant="default" onClick={() => setOpened(!opened)}>
          {w.saved}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={w.saved}>
        <Stack gap="xs">
          {saved.length === 0 ? (
            <Text size="sm" c="dimmed">
              {w.savedNone}
            </Text>
          ) : null}
          {saved.map((each) => (
            <Group key={each.name} justify="space-between" wrap="nowrap" gap="xs">
              <Button
                size="compact-sm"
                variant="subtle"
                onClick={() => {
                  setOpened(false);
                  navigate(each.search === '' ? '/calls' : `/calls?${each.search}`);
                }}
              >
                {each.name}
              </Button>
              <ActionIcon
                size="sm"
                variant="subtle"
                color="gray"
                aria-label={say(w.delete, { name: each.name })}
                onClick={() => setSaved((before) => before.filter(({ name: other }) => other !== each.name))}
              >
                <span aria-hidden>×</span>
              </ActionIcon>
            </Group>
          ))}
          {search === '' ? null : (
            <form onSubmit={save}>
              <Group gap="xs" align="end" wrap="nowrap">
                <TextInput
                  size="xs"
                  flex={1}
                  label={w.saveName}
                  value={name}
                  maxLength={60}
                  onChange={(event) => setName(event.currentTarget.value)}
                />
                <Button size="xs" type="submit">
                  {w.save}
                </Button>
              </Group>
            </form>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
