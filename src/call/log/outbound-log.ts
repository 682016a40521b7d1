import type { AnsweredBy } from '../../config/answered-by.ts';
import type { HeardSentence } from '../outbound/heard-ledger.ts';
import type { OutboundFacts, OutboundRecord } from './call-record.ts';

/** Opinions that are kept of one call; a classifier that changes its mind more often says nothing. */
const MOST_OPINIONS = 50;

/** What is found out of a call that we placed, while it goes. */
export class OutboundLog {
  readonly #facts: OutboundFacts;
  readonly #opinions: OutboundRecord['opinions'][number][] = [];
  #answeredBy: AnsweredBy | undefined;
  #message: OutboundRecord['message'];

  constructor(facts: OutboundFacts) {
    this.#facts = facts;
  }

  /** Who or what answered, as it is seen now; undefined where nothing has told yet. */
  get answeredBy(): AnsweredBy | undefined {
    return this.#answeredBy;
  }

  /** Somebody has an opinion of who answered; the latest one counts. @param atMs since the answer */
  opinion(by: AnsweredBy, atMs: number, confidence: number): void {
    this.#answeredBy = by;
    if (this.#opinions.length < MOST_OPINIONS) this.#opinions.push({ by, atMs: Math.max(0, Math.round(atMs)), confidence });
  }

  /** A message was left on a mailbox. @param heard whether all of it was taken down */
  messageLeft(heard: 'all' | 'part'): void {
    this.#message = heard;
  }

  /** @param sentences that were said so far, oldest first */
  record(sentences: readonly HeardSentence[]): OutboundRecord {
    const { campaignId, metadata } = this.#facts;
    const [first] = sentences;
    // A sentence that was cut short is said again.
    const identified = first !== undefined && sentences.some((said) => said.text === first.text && isHeard(said));
    return {
      campaignId,
      metadata: { ...metadata },
      answeredBy: this.#answeredBy,
      opinions: [...this.#opinions],
      message: this.#message,
      identified,
    };
  }
}

function isHeard({ heardText, halfHeardWord, unheardText }: HeardSentence): boolean {
  return heardText !== '' && halfHeardWord === undefined && unheardText === '';
}
