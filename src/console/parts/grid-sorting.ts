export interface Sorting {
  readonly column: string;
  readonly direction: 'ascending' | 'descending';
}

/** A column as far as the order of rows goes. */
interface Sortable<Row> {
  readonly name: string;
  readonly compare?: (a: Row, b: Row) => number;
}

/** Sorts a column up, then down, then not at all. @param keepOthers whether the other columns go on to count */
export function nextSorting(sorting: readonly Sorting[], column: string, keepOthers: boolean): readonly Sorting[] {
  const before = sorting.find((each) => each.column === column);
  if (before === undefined) return [...(keepOthers ? sorting : []), { column, direction: 'ascending' }];
  const after: readonly Sorting[] = before.direction === 'ascending' ? [{ column, direction: 'descending' }] : [];
  return keepOthers ? sorting.flatMap((each) => (each === before ? after : [each])) : after;
}

/** In the order they came, where no column tells them apart. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  sorting: readonly Sorting[],
): readonly Row[] {
  if (sorting.length === 0) return rows;
  return rows.toSorted((a, b) => {
    for (const { column, direction } of sorting) {
      const order = columns.find(({ name }) => name === column)?.compare?.(a, b) ?? 0;
      if (order !== 0) return direction === 'ascending' ? order : -order;
    }
    return 0;
  });
}
