import type { AnsweredBy } from '../../config/answered-by.ts';
import type { HeardSentence } from '../outbound/heard-ledger.ts';
import type { OutboundFacts, OutboundRecord } from './call-record.ts';

/** Most opinions kept of one call; a classifier that changes more often is not informative. */
const MOST_OPINIONS = 50;

/** What becomes known of an outbound call. */
export class OutboundLog {
  readonly #facts: OutboundFacts;
  readonly #opinions: OutboundRecord['opinions'][number][] = [];
  #answeredBy: AnsweredBy | undefined;
  #message: OutboundRecord['message'];
  /** The identifying sentence, and the turns in which it was due. */
  #wasIdentified = false;
  readonly #identifying: { readonly text: string; readonly turn: number }[] = [];

  constructor(facts: OutboundFacts) {
    this.#facts = facts;
  }

  /** Who or what answered, by the latest opinion; undefined before the first. */
  get answeredBy(): AnsweredBy | undefined {
    return this.#answeredBy;
  }

  /** Adds an opinion of who answered; the latest counts. @param atMs since the answer */
  opinion(by: AnsweredBy, atMs: number, confidence: number): void {
    this.#answeredBy = by;
    if (this.#opinions.length < MOST_OPINIONS) this.#opinions.push({ by, atMs: Math.max(0, Math.round(atMs)), confidence });
  }

  /** Takes over the findings from before a crash. */
  goOn({ opinions, message, identified }: Pick<OutboundRecord, 'opinions' | 'message' | 'identified'>): void {
    for (const { by, atMs, confidence } of opinions) this.opinion(by, atMs, confidence);
    this.#message = message;
    this.#wasIdentified = identified;
  }

  /** A message was left on a mailbox. @param heard whether all of it was recorded */
  messageLeft(heard: 'all' | 'part'): void {
    this.#message = heard;
  }

  /** A turn begins with this identifying sentence. */
  identifiesBy(text: string, turn: number): void {
    this.#identifying.push({ text: plain(text), turn });
  }

  /** @param sentences said so far, oldest first */
  record(sentences: readonly HeardSentence[]): OutboundRecord {
    const { campaignId, metadata } = this.#facts;
    return {
      campaignId,
      metadata: { ...metadata },
      answeredBy: this.#answeredBy,
      opinions: [...this.#opinions],
      message: this.#message,
      identified: this.#wasIdentified || this.#isIdentified(sentences),
    };
  }

  /** Whether a person heard the identifying sentence to its end. */
  #isIdentified(sentences: readonly HeardSentence[]): boolean {
    // A silent party may be a person who listens.
    const by = this.#answeredBy ?? 'person';
    if (by !== 'person' && by !== 'silence') return false;
    if (this.#identifying.length > 0) return this.#identifying.some(({ text, turn }) => isHeardOut(text, turn, sentences));
    const [first] = sentences;
    // A sentence that was cut short is repeated.
    return first !== undefined && sentences.some((said) => said.text === first.text && isHeard(said));
  }
}

/** The text without regard to how it was cut into sentences. */
function plain(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

function isHeardOut(text: string, turn: number, sentences: readonly HeardSentence[]): boolean {
  let heard = '';
  for (const said of sentences) {
    if (said.turnIndex !== turn) continue;
    if (!isHeard(said)) return false;
    heard = plain(`${heard} ${said.text}`);
    if (heard.startsWith(text)) return true;
  }
  return false;
}

function isHeard({ heardText, halfHeardWord, unheardText }: HeardSentence): boolean {
  return heardText !== '' && halfHeardWord === undefined && unheardText === '';
}
