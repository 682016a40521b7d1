import { fillPhrase } from '../../config/bot-phrases.ts';
import { type Bot, phrasesOf } from '../../config/bots.ts';
import { languageOf, sayDigits } from '../../language/index.ts';
import type { OutboundDuty } from '../log/call-record.ts';
import { OPT_OUT_KEY } from './refusals.ts';

/** The identity outbound calls are made under, from the settings. */
export interface DiallingIdentity {
  readonly identityName?: string | undefined;
  /** E.164. */
  readonly callbackNumber?: string | undefined;
}

type Says = Pick<Bot, 'identity' | 'language' | 'optOutKey' | 'overflow' | 'phrases'>;

const SAYS_NAME: ReadonlySet<string> = new Set(['say-machine-first', 'say-identity-first']);
const SAYS_NUMBER: ReadonlySet<string> = new Set(['say-callback-number', 'opt-out-on-mailbox']);
/** Groups digits by three from the right, before the last four. */
const THREES = /\d{1,3}(?=(?:\d{3})*$)/gu;
const LAST_DIGITS = 4;

/**
 * Duties of this bot's calls that lack configuration, one sentence each, for the operator who asked for the call. Such a call must not be dialled.
 */
export function missingForDuties(bot: Says, dialling: DiallingIdentity, duties: readonly OutboundDuty[]): string[] {
  const { name, callbackNumber } = identityOf(bot, dialling);
  const asking = (among: ReadonlySet<string>): string[] => duties.flatMap(({ duty }) => (among.has(duty) ? [duty] : []));
  const [naming, numbering] = [asking(SAYS_NAME), asking(SAYS_NUMBER)];
  const missing: string[] = [];
  if (naming.length > 0 && name === undefined)
    missing.push(
      `${naming.join(', ')}: set dialling.identityName, or identity.name of the bot, to the name that the call is made for`,
    );
  if (numbering.length > 0 && callbackNumber === undefined) {
    const what = 'to a number in E.164 that takes requests not to be called';
    missing.push(`${numbering.join(', ')}: set dialling.callbackNumber, or identity.callbackNumber of the bot, ${what}`);
  }
  return missing;
}

/**
 * The required opening of a call, before the bot's own words: that a machine calls and for whom, how to opt out, and the number for that.
 * Uninterruptible, and no dialog can leave it out. The first sentence identifies the call.
 * @returns nothing where no duty asks for it, or its configuration is missing
 */
export function lockedOpening(
  bot: Says,
  dialling: DiallingIdentity,
  duties: readonly OutboundDuty[],
  language: string = bot.language,
): readonly string[] {
  const phrases = phrasesOf(bot, language);
  const { name, callbackNumber } = identityOf(bot, dialling);
  const has = (wanted: string): boolean => duties.some(({ duty }) => duty === wanted);
  const opening: string[] = [];
  if (name !== undefined && duties.some(({ duty }) => SAYS_NAME.has(duty)))
    opening.push(fillPhrase(phrases.disclosure, { name }));
  if (has('opt-out-in-call'))
    opening.push(fillPhrase(phrases.optOutHow, { key: saidKey(bot.optOutKey ?? OPT_OUT_KEY, language) }));
  if (callbackNumber !== undefined && has('say-callback-number'))
    opening.push(fillPhrase(phrases.callbackNumber, { number: saidNumber(callbackNumber, language) }));
  return opening;
}

/** The longest opening that calls of this bot may need; empty where it has no name to call for. */
export function wholeOpening(bot: Says, dialling: DiallingIdentity): readonly string[] {
  if (identityOf(bot, dialling).name === undefined) return [];
  return lockedOpening(
    bot,
    dialling,
    ['say-identity-first', 'opt-out-in-call', 'say-callback-number'].map((duty) => ({ duty })),
  );
}

/** Required closing of a mailbox message; undefined where no duty asks for it. */
export function mailboxClosing(
  bot: Says,
  dialling: DiallingIdentity,
  duties: readonly OutboundDuty[],
  language: string = bot.language,
): string | undefined {
  const { callbackNumber } = identityOf(bot, dialling);
  if (callbackNumber === undefined || !duties.some(({ duty }) => duty === 'opt-out-on-mailbox')) return undefined;
  return fillPhrase(phrasesOf(bot, language).optOutOnMailbox, { number: saidNumber(callbackNumber, language) });
}

/** The recording rule of a call; one that must ask for consent keeps nothing before it. */
export function recordingRule(bot: Pick<Bot, 'recording'>, duties: readonly OutboundDuty[] = []): Bot['recording'] {
  const asks = duties.some(({ duty }) => duty === 'recording-consent');
  return asks && bot.recording !== 'never' ? 'after-consent' : bot.recording;
}

function identityOf({ identity }: Says, dialling: DiallingIdentity): Says['identity'] {
  return {
    name: identity.name ?? dialling.identityName,
    callbackNumber: identity.callbackNumber ?? dialling.callbackNumber,
  };
}

function saidKey(key: string, language: string): string {
  const names: Readonly<Record<string, string>> =
    languageOf(language) === 'hi' ? { '*': 'स्टार', '#': 'हैश' } : { '*': 'star', '#': 'hash' };
  return names[key] ?? key;
}

/** The number digit by digit, in groups. */
function saidNumber(number: string, language: string): string {
  const digits = number.replaceAll(/\D/gu, '');
  const groups = [...(digits.slice(0, -LAST_DIGITS).match(THREES) ?? []), digits.slice(-LAST_DIGITS)];
  return groups.map((group) => sayDigits(languageOf(language), group)).join(', ');
}
