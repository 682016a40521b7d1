import { z } from 'zod';
import type { CallQuery } from '../../store/port.ts';

/** What a search of calls may ask; all that is given must hold. */
export const callFilters = z.strictObject({
  number: z.string().min(1).max(100).optional(),
  bot: z.string().min(1).max(100).optional(),
  carrier: z.string().min(1).max(100).optional(),
  direction: z.enum(['inbound', 'outbound']).optional(),
  /** Start of the call, from (included) and to (excluded). */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  /** Whole words, all of them. */
  text: z.string().min(1).max(500).optional(),
  disposition: z.string().min(1).max(100).optional(),
});

/** In the store's words. */
export function searchOf({ bot, from, to, ...rest }: z.output<typeof callFilters>): Omit<CallQuery, 'limit' | 'before'> {
  return {
    ...rest,
    botName: bot,
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
  };
}
