import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './plain-table.module.css';

export interface PlainColumn<Row> {
  readonly title: string;
  readonly renderCell: (row: Row) => ReactNode;
  /** Numbers stand at the end of their column. */
  readonly atEnd?: boolean;
}

/** A short table. On a phone each row is a card in which every value has its title, so that nothing is cut. */
export function PlainTable<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  readonly label: string;
  readonly columns: readonly PlainColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string;
}): ReactNode {
  return (
    <Table className={classes['table']} aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ title, atEnd }) => (
            <Table.Th key={title} scope="col" data-end={atEnd}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, index) => (
          <Table.Tr key={keyOf(row, index)}>
            {columns.map(({ title, renderCell, atEnd }) => (
              <Table.Td key={title} data-title={title} data-end={atEnd}>
                {/* One element: on a phone it stands beside its title. */}
                <div>{renderCell(row)}</div>
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
