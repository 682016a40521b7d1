import type { AudioFormat } from '../audio/format.ts';
import { type DiallingIdentity, wholeOpening } from '../call/control/duties.ts';
import { withTrials } from '../config/bot-trials.ts';
import { type Bot, phrasesOf } from '../config/bots.ts';
import type { BotDialog } from '../dialog/bot-dialog.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { SpeechRequestError } from '../speech/client/errors.ts';
import type { SynthesisRequest } from '../speech/port.ts';
import { splitForSpeech } from '../speech/tts/sentences.ts';
import type { LoadedBots } from './loaded-bots.ts';
import type { GatewaySpeech } from './speech.ts';

/** As many sentences tell how loud a voice is. */
const TELLING_SENTENCES = 4;

/** What a vendor failed to speak is tried again after so long. */
const RETRY_MS = 60_000;

export interface FixedSentencesOptions {
  readonly speech: Pick<GatewaySpeech, 'ready' | 'speakersOf' | 'prepare'>;
  /** What carriers play. */
  readonly formats: readonly AudioFormat[];
  /** For what calls that we place may have to say first. */
  readonly dialling: DiallingIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sentences of one bot that one synthesizer is to speak. */
interface Task {
  readonly bot: Bot;
  readonly vendor: string;
  readonly requests: readonly SynthesisRequest[];
}

/**
 * Has the fixed sentences of bots spoken once, so that they start in the same tick later, and are there when the synthesizer is not.
 * A synthesizer that stands by speaks those alone that a call needs in trouble. What fails is tried again, until all is prepared.
 */
export class FixedSentences implements Disposable {
  readonly #options: FixedSentencesOptions;
  #runs = 0;
  #latest: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: FixedSentencesOptions) {
    this.#options = options;
  }

  /** Takes the place of a run before. Resolves when each sentence is in the cache or has failed; it never rejects. */
  prepare({ bots, dialogs }: Pick<LoadedBots, 'bots' | 'dialogs'>): Promise<void> {
    const tasks = withTrials(bots).flatMap((bot) => {
      const all = requestsFor(bot, fixedTexts(bot, dialogs.get(bot), this.#options.dialling));
      const { apology, goodbye } = phrasesOf(bot);
      const standby = requestsFor(bot, [apology, goodbye]);
      const speakers = this.#options.speech.speakersOf(bot);
      return speakers.map((vendor, place): Task => ({ bot, vendor, requests: place === 0 ? all : standby }));
    });
    return this.#start(tasks);
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    void this.#start([]);
  }

  #start(tasks: readonly Task[]): Promise<void> {
    this.#retry?.cancel();
    this.#runs += 1;
    this.#latest = this.#run(this.#closed ? [] : tasks, this.#runs);
    return this.#latest;
  }

  async #run(tasks: readonly Task[], run: number): Promise<void> {
    const { speech, formats, clock, logger } = this.#options;
    if (tasks.length > 0) await speech.ready();
    const failed: Task[] = [];
    for (const task of tasks) {
      if (run !== this.#runs) return this.#latest;
      const { bot, vendor, requests } = task;
      try {
        await speech.prepare(vendor, bot, requests, formats, TELLING_SENTENCES);
        logger.info({ bot: bot.name, vendor, sentences: requests.length }, 'fixed sentences prepared');
      } catch (error) {
        if (this.#closed) return;
        logger.warn({ bot: bot.name, vendor, error }, 'preparing fixed sentences failed');
        // A request that is wrong, such as one for a voice that does not exist, is wrong in a minute too.
        if (!(error instanceof SpeechRequestError)) failed.push(task);
      }
    }
    if (run !== this.#runs || failed.length === 0) return;
    this.#retry = clock.after(RETRY_MS, () => void this.#start(failed));
  }
}

/** Each sentence once. */
function requestsFor({ language, voice, speed }: Bot, texts: readonly string[]): readonly SynthesisRequest[] {
  const sentences = new Set(texts.flatMap((text) => splitForSpeech(text).map((sentence) => sentence.trim())));
  sentences.delete('');
  return Array.from(sentences, (text) => ({ text, voice, language, speed }));
}

function fixedTexts(bot: Bot, dialog: BotDialog | undefined, dialling: DiallingIdentity): readonly string[] {
  const { apology, goodbye, sayAgain, oneMoment, timeIsShort, shutdown, optedOut, wrongNumber, lostYou } = phrasesOf(bot);
  return [
    apology,
    goodbye,
    sayAgain,
    oneMoment,
    timeIsShort,
    shutdown,
    optedOut,
    wrongNumber,
    ...whenDownTexts(bot),
    lostYou,
    ...wholeOpening(bot, dialling),
    ...(dialog?.fixedPrompts((text) => splitForSpeech(text)) ?? []),
  ];
}

/** What a caller hears whose bot's server is down, by the steps of the bot's list. */
function whenDownTexts(bot: Bot): readonly string[] {
  const { downBot, downTransfer, stillConnecting, leaveMessage, messageTaken, offerCallBack, callBackPromised } = phrasesOf(bot);
  const texts = {
    bot: [downBot],
    transfer: [downTransfer, stillConnecting],
    message: [leaveMessage, messageTaken],
    callback: [offerCallBack, callBackPromised],
  };
  return (bot.whenDown ?? []).flatMap(({ kind }) => texts[kind]);
}
