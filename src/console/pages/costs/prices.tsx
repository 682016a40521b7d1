import { Alert, Box, List, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PricesView } from '../../../http/api/costs/cost-routes.ts';
import { get, Refused } from '../../api.ts';
import { useFormat } from '../../parts/format.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { say, useWords } from '../../words.ts';
import { useMoney } from './money.ts';
import { costsWords, unitWords } from './words.ts';

type Price = PricesView['prices'][number];

/** What `config/prices.ts` says of our own parts. */
const OWN_SOURCE = 'part of Offhook';
/** The currency of a gateway without a price file. */
const NO_CURRENCY = 'XXX';

/** The price file's rows, and what calls use that has no price; nothing for tenants, whose prices are the operator's. */
export function Prices(): ReactNode {
  const w = useWords(costsWords);
  const { data, error, refetch } = useQuery({
    queryKey: ['prices'],
    queryFn: ({ signal }) => get<PricesView>('/prices', signal),
    retry: (count, failure) => count < 2 && !(failure instanceof Refused),
  });
  if (error instanceof Refused && error.status === 403) return null;
  if (data === undefined)
    return error === null ? <Loading shape="rows" /> : <Failure error={error} retry={() => void refetch()} />;
  const { currency, unpriced } = data;
  return (
    <Box component="section" aria-labelledby="prices">
      <Title order={2} size="h4" mb={4} id="prices">
        {w.prices}
      </Title>
      <Text c="dimmed" size="sm" mb="xs" maw={720}>
        {currency === NO_CURRENCY ? w.noPrices : w.pricesHint}
      </Text>
      {unpriced.length === 0 ? null : <Unpriced unpriced={unpriced} />}
      <PriceTable {...data} />
    </Box>
  );
}

/** What is missing in the file: each line names what a row of it would. */
function Unpriced({ unpriced }: Pick<PricesView, 'unpriced'>): ReactNode {
  const w = useWords(costsWords);
  const units: Readonly<Record<string, string>> = useWords(unitWords);
  const format = useFormat();
  return (
    <Alert color="yellow" variant="light" mb="md">
      <Text size="sm" fw={600} mb={4}>
        {w.unpriced}
      </Text>
      <List size="sm">
        {unpriced.map(({ vendor, model, unit, calls }) => (
          <List.Item key={`${vendor} ${model} ${unit}`}>
            {nameOf(vendor, model)}: {units[unit] ?? unit} (
            {calls === 1 ? w.inCall : say(w.inCalls, { count: format.number(calls) })})
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function PriceTable({ currency, prices }: Pick<PricesView, 'currency' | 'prices'>): ReactNode {
  const w = useWords(costsWords);
  const units = useWords(unitWords);
  const format = useFormat();
  const money = useMoney();
  const priceText = ({ price, per }: Price): string => {
    if (price === 'unknown') return w.unknown;
    const text = money(price, currency);
    return per === 1 ? text : say(w.of, { price: text, per: format.number(per) });
  };
  return (
    <PlainTable<Price>
      label={w.prices}
      rows={prices}
      keyOf={({ vendor, model, unit, destination }) => `${vendor} ${model} ${unit} ${destination}`}
      columns={[
        { title: w.vendor, renderCell: ({ vendor, model }) => nameOf(vendor, model) },
        {
          title: w.unit,
          renderCell: ({ unit, destination }) => [units[unit], destination].filter((part) => part !== null).join(' → '),
        },
        { title: w.price, renderCell: priceText, atEnd: true },
        { title: w.date, renderCell: ({ date, source }) => (source === OWN_SOURCE ? '' : format.date(date)) },
        { title: w.source, renderCell: ({ source }) => (source === OWN_SOURCE ? w.own : source) },
      ]}
    />
  );
}

function nameOf(vendor: string, model: string | null): string {
  return model === null ? vendor : `${vendor} · ${model}`;
}
