import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { say, useWords } from '../../words.ts';
import { type Cost, useMoney } from './money.ts';
import { costsWords } from './words.ts';

/** A cost; one that is unknown says so, with the part that is known. */
export function CostText({
  cost,
  known,
  currency,
}: {
  readonly cost: Cost;
  readonly known: number;
  readonly currency: string;
}): ReactNode {
  const w = useWords(costsWords);
  const money = useMoney();
  if (cost !== 'unknown') return money(cost, currency);
  return (
    <>
      {w.unknown}
      {known === 0 ? null : (
        <Text component="span" size="sm" c="dimmed">
          {' '}
          {say(w.atLeast, { cost: money(known, currency) })}
        </Text>
      )}
    </>
  );
}
