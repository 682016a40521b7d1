import type { AnalysisProfile } from './profile.ts';
import type { ChannelTranscript } from './transcript.ts';

/** Words that were heard with less than this are as likely others. */
const LEAST_CONFIDENCE = 0.5;
/** People say two to three words a second. Where so few come of so much speech, most of it was not understood. */
const FEWEST_WORDS_A_SECOND = 0.3;
const LONG_SPEECH_S = 5;
/** The fewer words, the surer they have to be before they are taken for an intent or a mood. */
const INSIGHT_BOUNDS = [
  { words: 8, confidence: LEAST_CONFIDENCE },
  { words: 3, confidence: 0.7 },
  { words: 1, confidence: 0.9 },
] as const;
/** Where a recogniser gives no confidence. */
const FEWEST_WORDS = 3;

/** How much was understood of one channel. */
export interface ChannelUnderstanding {
  readonly words: number;
  /** Speech measured from the sound; undefined where it was not measured. */
  readonly speechS: number | undefined;
  /** Mean confidence of the words, 0 to 1; undefined where the recogniser gives none. */
  readonly confidence: number | undefined;
  /** Speech with unknown words, and speech with known words. */
  readonly unknownS: number;
  readonly heardS: number;
}

/** What is not known of a recording, and why. */
export interface Unknown {
  readonly what: string;
  readonly reason: string;
}

/** @param speechS speech that was measured on the channel */
export function understandingOf(
  { text, segments, words, source, unrecognised = [] }: ChannelTranscript,
  speechS: number | undefined,
): ChannelUnderstanding {
  const count = wordsIn(text);
  const told = words.length > 0 ? words.map(({ confidence }) => ({ confidence, weight: 1 })) : segments.map(weighed);
  const known = told.filter((each): each is { confidence: number; weight: number } => each.confidence !== undefined);
  const weight = known.reduce((sum, each) => sum + each.weight, 0);
  const mean = known.reduce((sum, each) => sum + each.confidence * each.weight, 0) / weight;
  const confidence = source === 'ledger' || weight === 0 ? undefined : mean;
  return { words: count, speechS, confidence, unknownS: lengthOf(unrecognised), heardS: lengthOf(segments) };
}

function lengthOf(stretches: readonly { readonly startS: number; readonly endS: number }[]): number {
  return stretches.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
}

function weighed({ text, confidence }: ChannelTranscript['segments'][number]) {
  return { confidence, weight: Math.max(1, wordsIn(text)) };
}

function wordsIn(text: string): number {
  return text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Why a channel's words must not be used; undefined where they may. A channel without speech is understood. */
export function notUnderstood(channel: ChannelUnderstanding): string | undefined {
  const { words, speechS, confidence, unknownS, heardS } = channel;
  const spoken = speechS === undefined ? 'speech' : `${speechS.toFixed(1)} s of speech`;
  if (words === 0) return speechS === 0 ? undefined : `nothing was understood of ${spoken}`;
  if (speechS !== undefined && speechS >= LONG_SPEECH_S && words < speechS * FEWEST_WORDS_A_SECOND) {
    return `${counted(words)} understood of ${spoken}`;
  }
  if (unknownS > heardS) return `${counted(words)} understood, and ${unknownS.toFixed(1)} s of speech were not`;
  if (confidence !== undefined && confidence < LEAST_CONFIDENCE) {
    return `${counted(words)} understood with a confidence of ${confidence.toFixed(2)}, below ${LEAST_CONFIDENCE}`;
  }
  return undefined;
}

/** Why channels say too little for an intent, a mood or a summary; undefined where they say enough. */
export function tooLittleForInsights(channels: readonly ChannelUnderstanding[]): string | undefined {
  const words = channels.reduce((sum, channel) => sum + channel.words, 0);
  if (words === 0) return channels.map(notUnderstood).find((reason) => reason !== undefined) ?? 'nothing was said';
  const told = channels.filter((channel) => channel.words > 0);
  const unclear = told.map(notUnderstood);
  if (unclear.every((reason) => reason !== undefined)) return unclear[0];
  if (told.some(({ confidence }) => confidence === undefined)) {
    return words < FEWEST_WORDS ? `${counted(words)} understood, too few to tell` : undefined;
  }
  const confidence = told.reduce((sum, each) => sum + (each.confidence ?? 0) * each.words, 0) / words;
  const bound = INSIGHT_BOUNDS.find((each) => words >= each.words)?.confidence ?? 1;
  return confidence < bound
    ? `${counted(words)} understood with a confidence of ${confidence.toFixed(2)}: so few would need ${bound}`
    : undefined;
}

function counted(words: number): string {
  return words === 1 ? 'one word was' : `${words} words were`;
}

/**
 * Why the words of a role, or of everybody, are not known; undefined where they are.
 * @param toldApart roles that were heard on channels that several people share
 */
export function roleUnknown(
  channels: readonly { readonly role: string; readonly reason: string | undefined }[],
  toldApart: ReadonlySet<string>,
  roles: AnalysisProfile['channels']['roles'],
): (role: string | undefined) => string | undefined {
  return (role) => {
    const own = channels.find((channel) => channel.role === role);
    if (own !== undefined) return own.reason;
    const shared = channels.find((channel) => channel.reason !== undefined);
    if (role === undefined || shared !== undefined) return shared?.reason;
    if (toldApart.has(role)) return undefined;
    const separate = roles.every((each) => channels.some((channel) => channel.role === each));
    return separate ? undefined : `no speaker was identified as ${role}`;
  };
}
