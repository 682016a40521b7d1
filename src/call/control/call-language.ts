import type { RecognitionEvent, Recogniser } from '../../speech/port.ts';
import type { RecogniserHandover } from '../inbound/recogniser-handover.ts';
import { SpokenLanguage } from '../inbound/spoken-language.ts';
import type { CallIdentity } from '../log/call-record.ts';
import type { Media } from '../media.ts';

/** The language of one call: what it is recognised and answered in. */
export class CallLanguage {
  readonly #recogniser: Pick<Recogniser, 'capabilities'>;
  readonly #media: () => Media | undefined;
  readonly #listening: () => RecogniserHandover;
  /** Undefined for a bot of one language. */
  readonly #spoken: SpokenLanguage | undefined;
  readonly #first: string;

  constructor(
    { bot, resumed }: Pick<CallIdentity, 'bot' | 'resumed'>,
    recogniser: Pick<Recogniser, 'capabilities'>,
    media: () => Media | undefined,
    listening: () => RecogniserHandover,
  ) {
    this.#recogniser = recogniser;
    this.#media = media;
    this.#listening = listening;
    this.#first = resumed?.state.language ?? bot.language;
    if (bot.languages.length > 0) this.#spoken = new SpokenLanguage(bot.languages, this.#first, resumed !== undefined);
  }

  /** What the bot speaks. */
  get current(): string {
    return this.#media()?.voice.language ?? this.#first;
  }

  /** Opens the recogniser. @param rateHz of what it will get; that of its last session where absent */
  listen(rateHz?: number): void {
    const { detectsLanguage } = this.#recogniser.capabilities;
    this.#listening().open(this.#spoken?.toListenFor(detectsLanguage) ?? this.current, rateHz);
  }

  hear(event: RecognitionEvent): void {
    this.#spoken?.hear(event);
  }

  /** The caller's turn is complete, and is about to be answered: in another language, where its words tell so. */
  turn(text: string): void {
    const found = this.#spoken?.turn(text);
    if (found !== undefined) this.#switchTo(found, undefined);
  }

  /** The dialog changes the language. */
  change(language: string, voice: string | undefined): void {
    this.#spoken?.changed(language);
    this.#switchTo(language, voice);
  }

  #switchTo(language: string, voice: string | undefined): void {
    this.#media()?.voice.switchTo(language, voice);
    this.#listening().open(language);
  }
}
