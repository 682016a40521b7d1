/** A time zone in which it is between 12:00 and 13:00 now, so that a person there may be called whenever a test runs. */
export function zoneAtNoon(): string {
  // The sign of these names is the other way round: Etc/GMT+5 is five hours behind UTC.
  const hours = new Date().getUTCHours() - 12;
  return `Etc/GMT${hours >= 0 ? '+' : ''}${hours}`;
}
