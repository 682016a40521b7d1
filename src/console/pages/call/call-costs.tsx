import { Box, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../parts/format.ts';
import { Headings } from '../../parts/states.tsx';
import { useWords } from '../../words.ts';
import { CostText } from '../costs/cost-text.tsx';
import { useMoney } from '../costs/money.ts';
import { costsWords, unitWords } from '../costs/words.ts';
import type { Call } from './call-model.ts';

type Part = NonNullable<Call['cost']>['parts'][number];

/** What one call cost, part by part. */
export function CallCosts({ cost }: Pick<Call, 'cost'>): ReactNode {
  const w = useWords(costsWords);
  const format = useFormat();
  const money = useMoney();
  return (
    <Box mt="md">
      <Title order={3} size="h6" mb={4}>
        {w.callCost}
      </Title>
      {cost === null ? (
        <Text size="sm" c="dimmed">
          {w.noCost}
        </Text>
      ) : (
        <Table className="figures" aria-label={w.callCost}>
          <Headings names={[w.vendor, w.amount, w.cost]} />
          <Table.Tbody>
            {cost.parts.map((part, index) => (
              // oxlint-disable-next-line react/no-array-index-key -- parts never change, and two legs may be equal
              <Table.Tr key={index}>
                <Table.Td>{vendorOf(part, w.analysis)}</Table.Td>
                <Table.Td>
                  {format.number(part.amount, 2)} <UnitName unit={part.unit} />
                </Table.Td>
                <Table.Td>{part.cost === 'unknown' ? w.unknown : money(part.cost, cost.currency)}</Table.Td>
              </Table.Tr>
            ))}
            <Table.Tr fw={600}>
              <Table.Td colSpan={2}>{w.total}</Table.Td>
              <Table.Td>
                <CostText cost={cost.total} known={cost.known} currency={cost.currency} />
              </Table.Td>
            </Table.Tr>
          </Table.Tbody>
        </Table>
      )}
    </Box>
  );
}

function vendorOf({ vendor, model, job }: Part, analysis: string): string {
  return [vendor, ...(model === undefined ? [] : [model]), ...(job === undefined ? [] : [analysis])].join(' · ');
}

function UnitName({ unit }: Pick<Part, 'unit'>): ReactNode {
  const w = useWords(costsWords);
  const units: Readonly<Record<string, string>> = useWords(unitWords);
  if (unit === 'unreported-answers') return w.unreported;
  const name = units[unit] ?? unit;
  return unit === 'cached-characters' ? `${name} (${w.cached})` : name;
}
