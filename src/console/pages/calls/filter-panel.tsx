import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { BotListView } from '../../../http/api/bots/bot-views.ts';
import { get } from '../../api.ts';
import { useMay } from '../../session.tsx';
import { useWords } from '../../words.ts';
import type { Call } from './columns.tsx';
import type { FilterName, Filters } from './filters.ts';
import { reasonWords } from '../inbox/words.ts';
import { answererWords, callsWords, outcomeWords, resultWords } from './words.ts';

interface FilterPanelProps {
  readonly draft: Filters;
  readonly calls: readonly Call[];
  readonly set: (name: FilterName, value: string | null) => void;
}

/** Every filter beside the words. */
export function FilterPanel({ draft, calls, set }: FilterPanelProps): ReactNode {
  const w = useWords(callsWords);
  const outcomes: Readonly<Record<string, string>> = useWords(outcomeWords);
  const answerers = useWords(answererWords);
  const results = useWords(resultWords);
  const reasons = useWords(reasonWords);
  const seesNumbers = useMay('numbers:read');
  const bots = useBotList();
  const seen = (of: (call: Call) => string | null): string[] => calls.flatMap((call) => of(call) ?? []);
  const field = (name: FilterName) => ({
    label: w[name],
    value: draft[name] ?? '',
    onChange: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value),
  });
  const choice = (
    name: Exclude<FilterName, 'text'>,
    values: readonly string[],
    names: Readonly<Record<string, string>> = {},
  ) => ({
    label: w[name],
    value: draft[name] ?? '',
    values,
    names,
    onChange: (value: string) => set(name, value),
  });
  return (
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
      <Choice {...choice('bot', [...bots.map(({ name }) => name), ...seen(({ bot }) => bot)])} />
      <Choice
        {...choice(
          'version',
          bots.flatMap(({ version }) => version ?? []),
        )}
        isOpen
      />
      <Choice {...choice('language', [...bots.flatMap(({ languages }) => languages), ...seen(({ language }) => language)])} />
      <Choice
        {...choice(
          'carrier',
          seen(({ carrier }) => carrier),
        )}
        isOpen
      />
      <Choice {...choice('direction', ['inbound', 'outbound'], { inbound: w.inbound, outbound: w.outbound })} />
      <Choice {...choice('endReason', [...Object.keys(outcomes), ...seen(({ endReason }) => endReason)], outcomes)} isOpen />
      <Choice {...choice('result', Object.keys(results), results)} />
      <Choice {...choice('attention', Object.keys(reasons), reasons)} />
      <Choice {...choice('answeredBy', Object.keys(answerers), answerers)} />
      <Choice
        {...choice(
          'disposition',
          seen(({ disposition }) => disposition),
        )}
        isOpen
      />
      <Choice
        {...choice(
          'campaign',
          seen(({ campaign }) => campaign),
        )}
        isOpen
      />
      <Choice {...choice('interrupted', ['true', 'false'], { true: w.yes, false: w.no })} />
      <Choice {...choice('cutOff', ['true', 'false'], { true: w.yes, false: w.no })} />
      <Choice {...choice('notUnderstood', ['true', 'false'], { true: w.yes, false: w.no })} />
      <Choice {...choice('optedOut', ['true', 'false'], { true: w.yes, false: w.no })} />
      <TextInput {...field('minReplyMs')} type="number" min={0} />
      <TextInput {...field('minCost')} type="number" min={0} step="any" />
      <TextInput {...field('minDurationS')} type="number" min={0} />
      <TextInput {...field('maxDurationS')} type="number" min={0} />
      <TextInput {...field('variable')} pattern="[^:]+:.+" placeholder="day:Tuesday" />
    </SimpleGrid>
  );
}

/** A select box of known values. @param isOpen whether a value that is not offered may be typed too */
function Choice({
  label,
  value,
  values,
  names,
  isOpen = false,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly names: Readonly<Record<string, string>>;
  readonly isOpen?: boolean;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const w = useWords(callsWords);
  const [typed, setTyped] = useState('');
  const isNew = isOpen && typed !== '' && typed !== w.any && !Object.values(names).includes(typed);
  const offered = [...new Set([...values, value, ...(isNew ? [typed.trim()] : [])])].filter((each) => each !== '');
  return (
    <Select
      label={label}
      value={value}
      searchable={isOpen || offered.length > 8}
      onSearchChange={setTyped}
      allowDeselect={false}
      data={[
        { value: '', label: w.any },
        ...offered
          .map((each) => ({ value: each, label: names[each] ?? each }))
          .toSorted((a, b) => (names[a.value] === undefined ? a.label.localeCompare(b.label) : 0)),
      ]}
      onChange={(next) => onChange(next ?? '')}
    />
  );
}

function useBotList(): BotListView['bots'] {
  const may = useMay('bots:read');
  const { data } = useQuery({
    queryKey: ['bots'],
    enabled: may,
    queryFn: ({ signal }) => get<BotListView>('/bots', signal),
  });
  return data?.bots ?? [];
}
