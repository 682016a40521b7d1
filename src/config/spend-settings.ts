import { z } from 'zod';
import { optionalText, settingFacts } from './setting.ts';
import { whenDown } from './when-down.ts';

/** In the currency of the price file. */
const amount = () => z.number().min(0).max(1_000_000_000);
const limit = (description: string) => amount().optional().register(settingFacts, { description });

/** Prices, and what calls may cost. */
export const spendSettings = z.object({
  prices: optionalText(
    'YAML file of prices of recognisers, synthesizers, models and carriers (docs/costs.md); unset: costs are unknown',
  ),
  maximumPerCall: limit(
    'Known cost at which a call is handed to a person or ended, in the currency of the prices, unless its bot sets its own; unset: no limit',
  ),
  maximumPerDay: limit(
    'Known cost of all calls in a day of UTC at which no more calls are placed, and callers are handed to a person or told to call again; unset: no limit',
  ),
});

/** The setting `spend` of a bot file. */
export const botSpend = z.strictObject({
  /** Known cost at which a call of this bot is handed over or ended; the settings' where absent. */
  maximumPerCall: amount().optional(),
  /** Known cost of this bot's calls in a day of UTC, beside the settings' limit for all bots. */
  maximumPerDay: amount().optional(),
  /** What is done for callers when a limit is reached: its first transfer, else goodbye; `whenDown` where absent. */
  whenReached: whenDown.optional(),
});
