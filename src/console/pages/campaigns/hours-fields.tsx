import { ActionIcon, Button, Chip, Fieldset, Group, Input, Stack, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../parts/format.ts';
import { useWords } from '../../words.ts';
import { campaignWords } from './words.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export interface HoursRow {
  readonly id: number;
  readonly days: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** As the API takes them. */
export function writtenHours(rows: readonly HoursRow[]): { days: readonly string[]; from: string; to: string }[] {
  return rows.map(({ days, from, to }) => ({ days, from, to }));
}

/** Hours in which the campaign calls, besides those of its profile. */
export function HoursFields({
  rows,
  change,
  errorAt,
}: {
  readonly rows: readonly HoursRow[];
  readonly change: (rows: readonly HoursRow[]) => void;
  readonly errorAt: (path: string) => string | undefined;
}): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const put = (id: number, more: Partial<HoursRow>): void =>
    change(rows.map((row) => (row.id === id ? { ...row, ...more } : row)));
  return (
    <Fieldset legend={w.hours}>
      <Stack gap="sm">
        <Input.Description>{w.hoursHint}</Input.Description>
        {rows.map(({ id, days, from, to }, index) => (
          <Stack key={id} gap={4}>
            <Group align="end" gap="xs">
              <Chip.Group multiple value={[...days]} onChange={(chosen) => put(id, { days: chosen })}>
                {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a fieldset inside of the hours would be drawn as a box */}
                <Group gap={4} role="group" aria-label={w.days}>
                  {DAYS.map((day) => (
                    <Chip key={day} value={day} size="xs">
                      {format.weekday(day)}
                    </Chip>
                  ))}
                </Group>
              </Chip.Group>
              <TextInput
                type="time"
                label={w.hoursFrom}
                value={from}
                onChange={({ currentTarget }) => put(id, { from: currentTarget.value })}
              />
              <TextInput
                type="time"
                label={w.hoursTo}
                value={to}
                onChange={({ currentTarget }) => put(id, { to: currentTarget.value })}
              />
              <ActionIcon
                variant="default"
                size="lg"
                aria-label={w.removeHours}
                onClick={() => change(rows.filter((row) => row.id !== id))}
              >
                <span aria-hidden>✕</span>
              </ActionIcon>
            </Group>
            <Input.Error>{errorAt(`narrowing.windows.0.hours.${index}`)}</Input.Error>
          </Stack>
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            onClick={() =>
              change([...rows, { id: (rows.at(-1)?.id ?? 0) + 1, days: DAYS.slice(0, 5), from: '10:00', to: '18:00' }])
            }
          >
            {w.addHours}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
