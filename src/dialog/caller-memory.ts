import type { Bot } from '../config/bots.ts';
import { partiesOf } from '../kernel/call-parties.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/waiting.ts';
import type { CallFacts } from './port.ts';

/** Longest wait for what is known of a caller. */
const RECALL_MS = 500;

/** Whose earlier calls are recalled, and by whose consent. */
export interface RecalledCaller {
  readonly tenantId: string;
  readonly botName: string;
  /** The person's number as the carrier gave it. */
  readonly number: string;
  /** The variable that such calls have set to `yes` where the person agreed to be remembered. */
  readonly consent: string;
  /** Latest calls that are recalled, at most. */
  readonly calls: number;
}

/**
 * What is known of a person from earlier calls with the bot, newest first; empty without a consent. Rejects while the store is away.
 * What it reads is the calls' own: it is erased, and expires, with them.
 */
export type RecallCaller = (asked: RecalledCaller) => Promise<readonly string[]>;

/**
 * Recalls the persons of a bot's calls; what is late or fails is nothing, as the call has to go on.
 * @returns undefined where the bot remembers nobody
 */
export function recalling(
  bot: Pick<Bot, 'name' | 'tenant'>,
  memory: Pick<RecalledCaller, 'consent' | 'calls'> | undefined,
  recall: RecallCaller | undefined,
  clock: Clock,
): ((call: CallFacts) => Promise<readonly string[]>) | undefined {
  if (memory === undefined || recall === undefined) return undefined;
  return (call) => {
    const asked = { ...memory, tenantId: bot.tenant, botName: bot.name, number: partiesOf(call).person };
    const known = recall(asked).catch(() => []);
    return within(clock, RECALL_MS, known, []);
  };
}
