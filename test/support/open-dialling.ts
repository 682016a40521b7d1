import { DialPrices } from '../../src/outbound/prices.ts';
import { type AllowedTarget, checkTransfer } from '../../src/config/allowed-target.ts';
import { type BotSettings, botSettings } from '../../src/config/bots.ts';
import { Destinations } from '../../src/config/destinations.ts';

/** For gates whose tests are about something else: every country, no ceiling, no alarm, no prices. */
export const OPEN_DIALLING = {
  destinationsOf: () => Destinations.anywhere,
  limitsOf: () => ({ callsPerDay: Infinity, callsPerDayOfKey: Infinity, alarmFactor: Infinity, alarmCalls: Infinity }),
  prices: DialPrices.none,
  expectedMinutes: 1,
};

/** Read once, for a time zone is slow to look up. */
let bot: BotSettings | undefined;

/** A target that the check has let through, as a bot's file names it: for tests of what comes behind the check. */
export function allowedTarget(to: string): AllowedTarget {
  bot ??= botSettings.parse({ name: 'desk', voice: 'Nisha', dialog: { kind: 'module', file: 'desk.js' } });
  const transfers = { ...bot.transfers, allow: [to] };
  const about = { isWarm: false, destinations: Destinations.anywhere, line: undefined };
  const checked = checkTransfer(to, { ...about, bot: { ...bot, transfers } });
  if ('refusal' in checked) throw new TypeError(checked.detail);
  return checked.target;
}
