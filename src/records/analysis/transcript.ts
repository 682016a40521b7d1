import { tokenise } from '../../language/index.ts';

/** One stretch of speech of one person. Times are seconds since the recording's first sample. */
export interface Segment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  /** The platform's label of the speaker, where several share a channel. */
  readonly speaker?: string | undefined;
  readonly confidence?: number | undefined;
  readonly emotion?: string | undefined;
}

export interface Word {
  readonly word: string;
  readonly startS: number;
  readonly endS: number;
  readonly confidence?: number | undefined;
}

/** What was understood of one channel, or of all of them mixed into one. */
export interface ChannelTranscript {
  readonly role: string;
  readonly source: 'asr' | 'ledger' | 'medical' | 'live';
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly words: readonly Word[];
  /** Speech whose words the recogniser reports as unknown. */
  readonly unrecognised?: readonly { readonly startS: number; readonly endS: number }[];
}

/** Words of the transcript that a finding rests on. */
export interface Evidence {
  /** Index into the document's channels, and into that channel's segments. */
  readonly channel: number;
  readonly segment: number;
  /** Characters of the segment's text, from and up to. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly role: string;
  readonly startS: number;
  readonly endS: number;
}

/** A segment with its place in the document. */
export interface Utterance extends Segment {
  readonly channel: number;
  readonly segment: number;
  readonly role: string;
}

/**
 * All speech in the order of its beginnings.
 * @param roleOf the role of a speaker label where several people share a channel
 */
export function utterancesOf(
  channels: readonly ChannelTranscript[],
  roleOf: (speaker: string) => string | undefined = () => undefined,
): Utterance[] {
  return channels
    .flatMap(({ role, segments }, channel) =>
      segments.map((each, segment) => ({
        ...each,
        channel,
        segment,
        role: (each.speaker === undefined ? undefined : roleOf(each.speaker)) ?? role,
      })),
    )
    .sort((left, right) => left.startS - right.startS || left.channel - right.channel);
}

/** Evidence for characters of an utterance; its times are in proportion to the characters. */
export function evidenceIn(utterance: Utterance, from: number, to: number): Evidence {
  const { channel, segment, role, text, startS, endS } = utterance;
  const at = (index: number): number => Math.round((startS + ((endS - startS) * index) / Math.max(1, text.length)) * 1000) / 1000;
  return { channel, segment, from, to, text: text.slice(from, to), role, startS: at(from), endS: at(to) };
}

/** A word as `tokenise` makes it, with the characters of the text that it stands for. */
export interface SpannedToken {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

const PIECES = /\b[ap](?:\.\s?|\s)m\b\.?|\p{Nd}{1,2}[.:]\p{Nd}{2}(?!\p{Nd})|\p{Nd}+|[\p{L}\p{M}'’`\u200B-\u200D]+/giu;

/** The words of a text in the form that bots understand, so that their rules can be used and what they find be pointed at. */
export function spannedTokens(text: string): SpannedToken[] {
  return [...text.matchAll(PIECES)].flatMap(({ index, 0: piece }) =>
    tokenise(piece).map((word) => ({ word, from: index, to: index + piece.length })),
  );
}

/** The words of a text as they are written, in lower case; those that bots pass over, too. */
export function spannedWords(text: string): SpannedToken[] {
  return [...text.matchAll(PIECES)].map(({ index, 0: piece }) => ({
    word: piece.normalize('NFC').toLowerCase(),
    from: index,
    to: index + piece.length,
  }));
}

/** The stretch of a text from the first part to the last one; undefined without parts. */
export function covering(
  parts: readonly { readonly from: number; readonly to: number }[],
): { from: number; to: number } | undefined {
  const [first] = parts;
  const last = parts.at(-1);
  return first === undefined || last === undefined ? undefined : { from: first.from, to: last.to };
}

/** Every place of a text where a phrase stands, from left to right. @param tokens of the text */
export function phraseSpans(tokens: readonly SpannedToken[], phrase: readonly string[]): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = [];
  for (let index = 0; phrase.length > 0 && index + phrase.length <= tokens.length; index += 1) {
    const isThere = phrase.every((word, offset) => tokens[index + offset]?.word === word);
    const span = isThere ? covering(tokens.slice(index, index + phrase.length)) : undefined;
    if (span !== undefined) spans.push(span);
  }
  return spans;
}
