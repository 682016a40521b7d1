import { join } from 'node:path';
import type { DoorOptions } from '../call/admission/call-door.ts';
import { EvenLoudness } from '../call/outbound/loudness.ts';
import { type VoiceList, VoiceNames } from '../call/outbound/voice-names.ts';
import { withTrials } from '../config/bot-trials.ts';
import type { Bot } from '../config/bots.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { SpeechPlatform } from '../speech/platform.ts';
import type { CallSpeech, SynthesisRequest, Synthesizer } from '../speech/port.ts';
import { readPronunciation } from '../speech/pronunciation.ts';
import { speechDefaults } from '../speech/routing/choice.ts';
import { PLATFORM } from '../speech/routing/routed-vendor.ts';
import { SpeechRouter, type SpeechRouterOptions } from '../speech/routing/router.ts';
import type { SpeechVendor } from '../speech/vendors/vendor.ts';

export interface GatewaySpeechOptions extends Pick<SpeechRouterOptions, 'processes' | 'spare' | 'tellFailure' | 'lender'> {
  readonly config: Pick<LoadedConfig, 'settings' | 'vendors'>;
  /** A vendor that none of them uses, nor the settings, need not work. */
  readonly bots: readonly Bot[];
  readonly platform: SpeechPlatform;
  readonly events: Pick<BusinessEvents, 'firstAudio' | 'finalAfterCommit'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The registry's when absent. */
  readonly vendors?: readonly SpeechVendor[] | undefined;
}

interface Voice {
  readonly names: VoiceNames;
  readonly loudness: EvenLoudness;
}

/** Speech of a gateway's calls: the router over all vendors, each with voices that exist and one loudness for all. */
export class GatewaySpeech implements AsyncDisposable {
  readonly router: SpeechRouter;
  readonly #platform: SpeechPlatform;
  readonly #logger: Logger;
  readonly #voices = new Map<string, Voice>();

  /** @throws SpeechError for a vendor that is used and whose settings cannot work */
  constructor({ config, platform, events, clock, logger, ...options }: GatewaySpeechOptions) {
    const { speech, dataDir } = config.settings;
    this.#platform = platform;
    this.#logger = logger;
    this.router = new SpeechRouter({
      ...options,
      bots: withTrials(options.bots),
      platform,
      configs: config.vendors,
      defaults: speechDefaults(speech),
      pronounce: readPronunciation(speech.pronounce ?? ''),
      clock,
      logger,
      phraseFolder: join(dataDir, 'phrases'),
      voiced: (name, synthesizer) => this.#voiced(name, synthesizer),
      watch: {
        failed: (service, vendor, error) => logger.warn({ service, vendor, error }, 'speech vendor failed'),
        firstAudio: (vendor, afterMs) => events.firstAudio({ vendor, afterMs }),
        finalAfterCommit: (vendor, afterMs) => events.finalAfterCommit({ vendor, afterMs }),
      },
    });
  }

  /** What admission asks: slots and health of the vendors that a bot uses. */
  get door(): Pick<DoorOptions<CallSpeech>, 'reserveSpeech' | 'speechIsUp' | 'freeSpeech'> {
    const { router } = this;
    return {
      reserveSpeech: (bot, place) => router.reserve(bot, place),
      speechIsUp: (bot) => router.isUp(bot),
      freeSpeech: (bot) => router.free(bot),
    };
  }

  /** What `/readyz` says: `partly` where some bots alone could be served. */
  state(bots: readonly Bot[]): 'ok' | 'partly' | 'down' {
    const served = bots.filter((bot) => this.router.isUp(bot)).length;
    if (bots.length === 0) return this.#platform.isUp ? 'ok' : 'down';
    return served === bots.length ? 'ok' : served > 0 ? 'partly' : 'down';
  }

  /** Voices of the speech platform are asked for, so that sentences are prepared in those that calls will have. */
  async ready(): Promise<void> {
    if (this.#platform.voices === undefined) await this.#platform.health(new AbortController().signal).catch(() => undefined);
  }

  /** Who speaks for a bot in its language: the first, and those that stand by for it. */
  speakersOf(bot: Bot): readonly string[] {
    return this.router.speakersOf(bot);
  }

  /**
   * Has one of those that speak for a bot speak its sentences ahead of its calls.
   * @param formats what they are spoken as
   * @param telling of them show how loud the voice is
   * @throws SpeechError; what could be spoken is prepared
   */
  async prepare(
    name: string,
    bot: Bot,
    asked: readonly SynthesisRequest[],
    formats: readonly NonNullable<SynthesisRequest['format']>[],
    telling: number,
  ): Promise<void> {
    const voice = this.#voices.get(name);
    if (voice === undefined) return;
    const requests = asked.map((request) => voice.names.request(this.router.requestFor(name, bot, request)));
    await this.router.prepare(
      name,
      formats.flatMap((format) => requests.map((request) => ({ ...request, format }))),
    );
    const [format] = formats;
    await voice.loudness.learn(requests.slice(0, telling).map((request) => ({ ...request, ...(format && { format }) })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.router[Symbol.asyncDispose]();
  }

  #voiced(name: string, synthesizer: Synthesizer): Synthesizer {
    const known = (): VoiceList | undefined => {
      if (name === PLATFORM) return this.#platform.voices;
      const { voices, defaultVoice } = synthesizer.capabilities;
      return voices === undefined ? undefined : { voices, defaultVoice };
    };
    const names = new VoiceNames(known, this.#logger.child({ vendor: name }));
    const loudness = new EvenLoudness(names.applyTo(synthesizer));
    this.#voices.set(name, { names, loudness });
    return loudness;
  }
}

/** Recognition slots beside those of calls: what one process may hold of each vendor. */
export class SpareSlots {
  #most: Readonly<Record<string, number>>;
  readonly #held = new Map<string, number>();

  constructor(most: Readonly<Record<string, number>>) {
    this.#most = most;
  }

  /** Those that are held stay so; where they are more than the new share, none is given until they are fewer. */
  share(most: Readonly<Record<string, number>>): void {
    this.#most = most;
  }

  /** @returns undefined when none is free; releasing one twice is harmless */
  take(vendor: string): { release(): void } | undefined {
    const held = this.#held.get(vendor) ?? 0;
    if (held >= (this.#most[vendor] ?? 0)) return undefined;
    this.#held.set(vendor, held + 1);
    let released = false;
    return {
      release: () => {
        if (!released) this.#held.set(vendor, (this.#held.get(vendor) ?? 0) - 1);
        released = true;
      },
    };
  }
}
