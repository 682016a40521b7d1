import { readOptOut } from '../../language/index.ts';
import type { CallIdentity } from '../log/call-record.ts';
import { plainWords } from '../turn/transcript.ts';
import { DEFAULT_OPT_OUT, type OptOutSettings } from '../turn/turn-settings.ts';
import type { HeardOptOut } from '../turn/turn-state.ts';

/** A person's request not to be called again, as stored. */
export interface RefusedCalls {
  readonly callId: string;
  readonly tenantId: string;
  /** The person's number, called or calling, as the carrier writes it. */
  readonly number: string;
  readonly kind: HeardOptOut['kind'];
  readonly how: HeardOptOut['how'];
  readonly atWallMs: number;
}

/** The key that opts out where a duty asks for one and the bot names none. */
export const OPT_OUT_KEY = '9';

/** Words the bot may tell people to say. They count alone, and only where the bot said so: "stop" may mean the bot's voice. */
const TOLD = new Set(['stop', 'स्टॉप', 'बंद करो', 'बंद करें', 'बंद कीजिए', 'band karo', 'band karen', 'band kijiye'].map(plainWords));
const POLITE = /(?:^| )(?:please|प्लीज़|प्लीज|कृपया)(?= |$)/gu;

/** How this call recognises an opt-out. A bot may ignore it on inbound calls, and a wrong number counts only on outbound ones. */
export function optOutSettings({ bot, inbound, outbound }: CallIdentity): OptOutSettings {
  const isInbound = inbound.direction === 'inbound';
  if (isInbound && bot.optOut === 'off') return DEFAULT_OPT_OUT;
  const isDuty = outbound?.duties.some(({ duty }) => duty === 'opt-out-in-call') === true;
  const read = (words: string): HeardOptOut['kind'] | undefined => {
    const said = readOptOut(words) ?? (isDuty && isTold(words) ? 'opt-out' : undefined);
    return isInbound && said === 'wrong-number' ? undefined : said;
  };
  return { ...DEFAULT_OPT_OUT, read, key: bot.optOutKey ?? (isDuty ? OPT_OUT_KEY : undefined), keyAtAnyMoment: isDuty };
}

/** Whether the text is only the words the bot told people to say, once or repeated. */
function isTold(words: string): boolean {
  const said = plainWords(words).replaceAll(POLITE, ' ').replaceAll(/\s+/gu, ' ').trim();
  if (TOLD.has(said)) return true;
  const parts = said.split(' ');
  return parts.length > 1 && parts.every((word) => TOLD.has(word));
}
