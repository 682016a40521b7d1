import { systemClock } from '../../kernel/clock.ts';

/** A time zone in which it is between 12:00 and 13:00 now, so that a simulated person there may be called at any time of day. */
export function zoneAtNoon(): string {
  // The sign of these names is the other way round: Etc/GMT+5 is five hours behind UTC.
  const hours = new Date(systemClock.wallMs()).getUTCHours() - 12;
  return `Etc/GMT${hours >= 0 ? '+' : ''}${hours}`;
}
