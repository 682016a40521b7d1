import { literalPattern } from '../../../kernel/literal-pattern.ts';
import type { ChannelTranscript, Segment, Word } from '../transcript.ts';
import type { PersonalKind } from '../profile.ts';
import { findPersonal } from './personal.ts';

/** What stands for a hidden keyword, as the platform writes it (ASR doc, `hash_keywords`). */
const HIDDEN = '****';

export interface RedactionRules {
  readonly keywords: readonly string[];
  readonly personal: readonly PersonalKind[];
}

/** A value that was hidden: its kind and when it was said; never the value. */
export interface Redacted {
  readonly kind: PersonalKind | 'keyword';
  readonly channel: number;
  readonly startS: number;
  readonly endS: number;
}

interface Span {
  readonly kind: Redacted['kind'];
  readonly from: number;
  readonly to: number;
}

/**
 * Hides keywords and personal values in texts that follow each other, also where a value runs over the end of one into the
 * next. The mark (`[phone]`, `****`) stands where the value began.
 */
export class Redactor {
  readonly #rules: RedactionRules;
  readonly #keywords: RegExp | undefined;

  constructor(rules: RedactionRules) {
    this.#rules = rules;
    this.#keywords = keywordPattern(rules.keywords);
  }

  get isIdle(): boolean {
    return this.#keywords === undefined && this.#rules.personal.length === 0;
  }

  text(text: string): string {
    return this.pieces([text]).texts[0] ?? '';
  }

  /** @returns as many texts, and for each thing hidden the pieces it began and ended in */
  pieces(pieces: readonly string[]): { texts: string[]; hidden: { kind: Redacted['kind']; first: number; last: number }[] } {
    if (this.isIdle) return { texts: [...pieces], hidden: [] };
    const placed: { readonly piece: string; readonly start: number }[] = [];
    let joined = '';
    for (const piece of pieces) {
      placed.push({ piece, start: joined.length });
      joined += `${piece} `;
    }
    const spans = this.#spansIn(joined);
    const texts = placed.map(({ piece, start }) => withoutSpans(piece, start, spans));
    const pieceAt = (place: number): number => placed.findLastIndex(({ start }) => start <= place);
    return {
      texts,
      hidden: spans.map(({ kind, from, to }) => ({ kind, first: pieceAt(from), last: pieceAt(to - 1) })),
    };
  }

  /** Hides personal values of a channel; each speaker's words are read as one text, across other speakers. */
  channel(transcript: ChannelTranscript, channel: number): { transcript: ChannelTranscript; hidden: Redacted[] } {
    if (this.isIdle) return { transcript, hidden: [] };
    const speakers = [...new Set(transcript.segments.map(({ speaker }) => speaker))];
    const segments: Segment[] = [...transcript.segments];
    const hidden: Redacted[] = [];
    for (const speaker of speakers) {
      const said = [...transcript.segments.entries()].filter(([, each]) => each.speaker === speaker);
      const result = this.pieces(said.map(([, { text }]) => text));
      for (const [place, [index, segment]] of said.entries())
        segments[index] = { ...segment, text: result.texts[place] ?? segment.text };
      for (const { kind, first, last } of result.hidden) {
        const [began, ended] = [said[first]?.[1], said[last]?.[1]];
        if (began !== undefined && ended !== undefined) hidden.push({ kind, channel, startS: began.startS, endS: ended.endS });
      }
    }
    const words = this.#words(transcript, speakers.length > 1);
    const unchanged = transcript.segments.map(({ text }) => text).join(' ') === transcript.text;
    const text = unchanged ? segments.map((each) => each.text).join(' ') : this.text(transcript.text);
    return { transcript: { ...transcript, text, segments, words }, hidden };
  }

  #words({ words, segments }: ChannelTranscript, several: boolean): Word[] {
    const speakerOf = ({ startS, endS }: Word): string | undefined => {
      const middle = (startS + endS) / 2;
      return segments.find((segment) => segment.startS <= middle && middle <= segment.endS)?.speaker;
    };
    const groups = new Map<string | undefined, [index: number, word: Word][]>();
    for (const [index, word] of words.entries()) {
      const speaker = several ? speakerOf(word) : undefined;
      const group = groups.get(speaker);
      if (group === undefined) groups.set(speaker, [[index, word]]);
      else group.push([index, word]);
    }
    const kept = [...words];
    for (const group of groups.values()) {
      const { texts } = this.pieces(group.map(([, { word }]) => word));
      for (const [place, [index, word]] of group.entries()) {
        const text = texts[place] ?? word.word;
        if (text !== word.word) kept[index] = { ...word, word: text };
      }
    }
    return kept.filter(({ word }) => word !== '');
  }

  #spansIn(text: string): Span[] {
    const keywords = this.#keywords === undefined ? [] : [...text.matchAll(this.#keywords)];
    const spans: Span[] = keywords.map(({ index, 0: found }) => ({ kind: 'keyword', from: index, to: index + found.length }));
    const personal = findPersonal(text, this.#rules.personal).filter(({ from, to }) =>
      spans.every((span) => span.to <= from || span.from >= to),
    );
    return [...spans, ...personal].sort((left, right) => left.from - right.from);
  }
}

/** The piece of a longer text that begins at `start`, with each span's mark where the span begins. */
function withoutSpans(piece: string, start: number, spans: readonly Span[]): string {
  let text = '';
  let at = 0;
  for (const { kind, from, to } of spans) {
    const first = Math.max(at, from - start);
    const last = Math.min(piece.length, to - start);
    if (from - start >= piece.length || to - start <= 0) continue;
    text += piece.slice(at, first);
    if (from >= start) text += kind === 'keyword' ? HIDDEN : `[${kind}]`;
    at = Math.max(at, last);
  }
  if (at === 0) return piece;
  return (text + piece.slice(at)).trim();
}

/** One pattern for all keywords: whole words, any case, split by blanks or hyphens as they may be. */
function keywordPattern(keywords: readonly string[]): RegExp | undefined {
  const terms = keywords
    .map((keyword) => keyword.normalize('NFC').trim())
    .filter((keyword) => keyword !== '')
    .sort((left, right) => right.length - left.length)
    .map((keyword) =>
      keyword
        .split(/[\s-]+/u)
        .map((word) => literalPattern(word))
        .join('[\\s-]*'),
    );
  if (terms.length === 0) return undefined;
  return new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(?:${terms.join('|')})(?![\\p{L}\\p{M}\\p{N}])`, 'giu');
}
