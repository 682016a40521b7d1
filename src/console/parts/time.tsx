import type { ReactNode } from 'react';
import { useLocale } from '../words.ts';

/** A moment in the reader's own time zone; its full form on hover. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const locale = useLocale();
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const short = isToday
    ? date.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
    : date.toLocaleString(locale, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
  return (
    <time dateTime={at} title={date.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'long' })} className="figures">
      {short}
    </time>
  );
}

/** A length of time: `0:07`, `12:40`, `1:02:03`. @param ms zero or more */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  const [minutes = 0, rest = 0] = parts;
  return hours > 0
    ? `${hours}:${String(minutes).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
    : `${minutes}:${String(rest).padStart(2, '0')}`;
}
