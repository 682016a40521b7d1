import type { ReactNode } from 'react';
import { useFormat } from './format.ts';

/** A moment in the reader's own time zone; its full form on hover. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const format = useFormat();
  return (
    <time dateTime={at} title={format.fullTime(at)} className="figures">
      {format.listedTime(at, true)}
    </time>
  );
}
