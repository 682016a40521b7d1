import type { RecognitionEvent, Recogniser } from '../../speech/port.ts';
import type { CallLine } from '../call-line.ts';
import type { RecogniserHandover } from '../inbound/recogniser-handover.ts';
import { SpokenLanguage } from '../inbound/spoken-language.ts';

/** The language of one call: what it is recognised and answered in. */
export class CallLanguage {
  readonly #line: CallLine;
  readonly #recogniser: Pick<Recogniser, 'capabilities'>;
  readonly #listening: RecogniserHandover;
  /** Undefined for a bot of one language. */
  readonly #spoken: SpokenLanguage | undefined;

  constructor(line: CallLine, recogniser: Pick<Recogniser, 'capabilities'>, listening: RecogniserHandover) {
    const { bot, resumed } = line.identity;
    this.#line = line;
    this.#recogniser = recogniser;
    this.#listening = listening;
    if (bot.languages.length > 0) this.#spoken = new SpokenLanguage(bot.languages, line.language, resumed !== undefined);
  }

  /** Opens the recogniser. @param rateHz of what it will get; that of its last session where absent */
  listen(rateHz?: number): void {
    const { detectsLanguage } = this.#recogniser.capabilities;
    this.#listening.open(this.#spoken?.toListenFor(detectsLanguage) ?? this.#line.language, rateHz);
  }

  /** Closes the recogniser: the bot need not understand the caller for now. */
  stopListening(): void {
    this.#listening.close();
  }

  hear(event: RecognitionEvent): void {
    this.#spoken?.hear(event);
  }

  /** The caller's turn is complete, and is about to be answered: in another language, where its words tell so. */
  turn(text: string): void {
    const found = this.#spoken?.turn(text);
    if (found === undefined) return;
    this.#line.media?.voice.switchTo(found, undefined);
    // A recogniser that listens for it already may be hearing the caller go on.
    if (this.#listening.language !== found) this.#listening.open(found);
  }

  /** The dialog changes the language. */
  change(language: string, voice: string | undefined): void {
    this.#spoken?.changed(language);
    this.#line.media?.voice.switchTo(language, voice);
    this.#listening.open(language);
  }
}
