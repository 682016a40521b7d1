import type { AdapterConfig, AdapterConfigs } from '../../config/setting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SpeechSlots } from '../../observability/metrics.ts';
import { SpeechError, SpeechOverloadedError, SpeechRequestError } from '../client/errors.ts';
import type { SlotLender } from '../client/slot-lease.ts';
import type { Slot } from '../client/slots.ts';
import { AS_WRITTEN, type Pronunciation, pronounced } from '../pronunciation.ts';
import type { CallSpeech, SpeechSwitch, SwitchReason, SynthesisRequest } from '../port.ts';
import { vendors as every } from '../vendors/registry.ts';
import type { OpenVendor, SpeechVendor } from '../vendors/vendor.ts';
import { type CallChoices, RoutedCallSpeech, type RecognitionChoice, type SpeechWatch } from './call-speech.ts';
import { chosen, isNamed, knows, type SpeakingBot, type SpeechDefaults, voiceOf } from './choice.ts';
import type { SynthesisCandidate } from './fallback-synthesis.ts';
import { type PlatformSpeech, type RoutedVendor, type Voiced, routedPlatform, routedVendor } from './routed-vendor.ts';
import { type FailureListener, FINAL_LATE, FIRST_AUDIO_LATE, UsualTimes, VendorHealth } from './vendor-health.ts';

/** A recognition slot's vendor and key. */
export interface SpeechPlace {
  readonly vendor: string;
  readonly lane: number;
}

export interface SpeechRouterOptions {
  readonly platform: PlatformSpeech;
  readonly configs: AdapterConfigs;
  readonly defaults: SpeechDefaults;
  /** How words are spoken by every bot that does not say otherwise. */
  readonly pronounce?: Pronunciation;
  /** Bots in use: a vendor that neither they nor the defaults use need not work; all must when absent. */
  readonly bots?: readonly SpeakingBot[] | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The registry's when absent. */
  readonly vendors?: readonly SpeechVendor[] | undefined;
  readonly phraseFolder?: string | undefined;
  /** Processes that share the limits of each key; 1 when absent. */
  readonly processes?: number;
  /** Where other machines share them too. */
  readonly lender?: SlotLender | undefined;
  /** What calls get in the place of a synthesizer: the same with voices that exist, and as loud as others. */
  readonly voiced?: Voiced | undefined;
  /** A slot beside those that calls were let in with, where another process counts those. */
  readonly spare?: ((vendor: string) => { release(): void } | undefined) | undefined;
  readonly watch?: Partial<SpeechWatch>;
  /** Tells other processes of a vendor that failed; `failedElsewhere` of theirs takes it. */
  readonly tellFailure?: FailureListener | undefined;
}

/** Chooses recognisers and synthesizers, from the speech platform and every configured vendor, by bot and language. */
export class SpeechRouter implements AsyncDisposable {
  readonly #options: SpeechRouterOptions;
  /** By name. */
  readonly #vendors: ReadonlyMap<string, RoutedVendor>;
  readonly #health: VendorHealth;
  /** Vendors that could not be opened, and why. */
  readonly #broken = new Map<string, SpeechError>();
  /** Recognition slots by vendor when all are free. */
  readonly #limits: ReadonlyMap<string, number>;
  /** Slots that other processes may give. */
  readonly #shared: Slot[] = [];
  readonly #finals = new UsualTimes(FINAL_LATE);
  readonly #firstAudios = new UsualTimes(FIRST_AUDIO_LATE);
  /** The settings' words and a bot's own, by the latter. */
  readonly #pronunciations = new WeakMap<Pronunciation, Pronunciation>();

  /** @throws SpeechError for a used vendor whose settings cannot work */
  constructor(options: SpeechRouterOptions) {
    const {
      platform,
      configs,
      clock,
      logger,
      vendors = every,
      phraseFolder,
      processes = 1,
      voiced = unchanged,
      lender,
    } = options;
    this.#options = options;
    this.#health = new VendorHealth(clock, options.tellFailure);
    const parts = { clock, logger, phraseFolder, processes, voiced, lender };
    const opened = vendors.flatMap((vendor) => {
      const config = configs.get(vendor.name);
      const open = config && this.#open(vendor, config);
      return config === undefined || open === undefined ? [] : [routedVendor(vendor.name, open, config, parts)];
    });
    this.#vendors = new Map([routedPlatform(platform, voiced), ...opened].map((vendor) => [vendor.name, vendor]));
    this.#limits = new Map([...this.#vendors.values()].map(({ name, freeSlots }) => [name, freeSlots]));
  }

  /** Names of those that are configured, the speech platform first. */
  get names(): readonly string[] {
    return [...this.#vendors.keys()];
  }

  get slotGauges(): readonly SpeechSlots[] {
    return [...this.#vendors.values()].flatMap(({ slotGauges }) => slotGauges);
  }

  /** Vendors that failed in a call within the last minute. */
  get failing(): VendorHealth['failing'] {
    return this.#health.failing;
  }

  /** Whether a call of this bot could be served now, as far as it is known. */
  isUp(bot: SpeakingBot): boolean {
    const anyUp = (service: keyof SpeechDefaults): boolean => this.#listed(service, bot, bot.language).some(({ isUp }) => isUp);
    return anyUp('recogniser') && anyUp('synthesizer');
  }

  /** Recognition slots that calls of this bot could have now. */
  free(bot: SpeakingBot): number {
    return this.#listed('recogniser', bot, bot.language).reduce((free, vendor) => free + (vendor.isUp ? vendor.freeSlots : 0), 0);
  }

  /** Waits, where other machines share the keys, until a call finds a slot at hand or none is free; a fraction of a second at most. */
  async ready(): Promise<void> {
    await Promise.all([...this.#vendors.values()].map((vendor) => vendor.ready()));
  }

  /** A slot for a call of this bot, at the first that has one. */
  reservePlace(bot: SpeakingBot): (SpeechPlace & { release(): void }) | undefined {
    for (const vendor of this.#byHealth('recognition', this.#listed('recogniser', bot, bot.language))) {
      const slot = vendor.reserve();
      if (slot !== undefined) return { vendor: vendor.name, lane: slot.lane, release: () => slot.release() };
    }
    return undefined;
  }

  /**
   * Takes slots that other processes may give their calls beside those these are let in with: an even share of half of what is
   * left at the most calls; of a vendor that only stands by, of half of all. Releases first what it took before.
   * @param at.machines that share the keys evenly in this; 1 when absent
   * @returns for each process, by vendor; fewer where live calls hold the slots
   */
  async shareSpare({
    bots,
    calls,
    processes,
    machines = 1,
  }: {
    readonly bots: readonly SpeakingBot[];
    readonly calls: number;
    readonly processes: number;
    readonly machines?: number;
  }): Promise<Readonly<Record<string, number>>> {
    const first = new Set(bots.map((bot) => this.#listed('recogniser', bot, bot.language)[0]?.name));
    for (const slot of this.#shared.splice(0)) slot.release();
    const sharing = [...this.#vendors.values()].map(async (vendor): Promise<[string, number]> => {
      // Where there is no limit, as many as there can be calls are enough.
      const all = Math.min(Math.floor((this.#limits.get(vendor.name) ?? 0) / machines), 4 * calls);
      const left = first.has(vendor.name) ? all - calls : all;
      const wanted = Math.max(0, Math.floor(left / (2 * processes)));
      const share = Math.min(wanted, Math.floor(vendor.freeSlots / processes));
      if (share > 0) await vendor.ready(share * processes);
      const slots: Slot[] = [];
      for (let slot = share > 0 ? vendor.reserve() : undefined; slot !== undefined; slot = vendor.reserve()) {
        slots.push(slot);
        if (slots.length === share * processes) break;
      }
      // Other machines may have been quicker.
      const given = Math.floor(slots.length / processes);
      for (const slot of slots.splice(given * processes)) slot.release();
      this.#shared.push(...slots);
      return [vendor.name, given];
    });
    return Object.fromEntries(await Promise.all(sharing));
  }

  /**
   * Recognition and synthesis of a call that begins: its slot is held when this returns. Connections for its first sentence are opened.
   * @param place the slot that another process has counted for it
   * @returns undefined when no slot is free
   */
  reserve(bot: SpeakingBot, place?: SpeechPlace): CallSpeech | undefined {
    const slot = place === undefined ? this.reservePlace(bot) : this.#placed(place);
    if (slot === undefined) return undefined;
    const [first] = this.#listed('recogniser', bot, bot.language);
    const isWell = first === undefined || this.#isWell('recognition', first);
    const reason: SwitchReason = first?.name === slot.vendor ? 'start' : isWell ? 'full' : 'cooling-down';
    const [speaks] = this.#byHealth('synthesis', this.#listed('synthesizer', bot, bot.language));
    for (const vendor of new Set([this.#vendors.get(slot.vendor), speaks])) vendor?.warm();
    const { clock, watch } = this.#options;
    return new RoutedCallSpeech({
      language: bot.language,
      choices: this.#choicesOf(bot),
      first: { name: slot.vendor, slot, reason },
      usualSpeaker: this.speakersOf(bot)[0],
      clock,
      watch: {
        failed: (service, name, error) => {
          if (!tellsOfRequest(error)) this.#health.failed(service, name);
          watch?.failed?.(service, name, error);
        },
        firstAudio: (name, afterMs) => {
          this.#firstAudios.took(name, afterMs);
          watch?.firstAudio?.(name, afterMs);
        },
        finalAfterCommit: (name, afterMs) => {
          this.#finals.took(name, afterMs);
          watch?.finalAfterCommit?.(name, afterMs);
        },
      },
      lateness: { final: (name) => this.#finals.lateMs(name), firstAudio: (name) => this.#firstAudios.lateMs(name) },
    });
  }

  /** A vendor failed in a call of another process: calls begin with others for a while. Unknown vendors are ignored. */
  failedElsewhere(...[service, name]: Parameters<FailureListener>): void {
    if (this.#vendors.has(name)) this.#health.failedElsewhere(service, name);
  }

  /** A bot's synthesizers in order of preference; empty where no named one is configured. */
  speakersOf(bot: SpeakingBot): readonly string[] {
    return this.#listed('synthesizer', bot, bot.language).map(({ name }) => name);
  }

  /** A sentence as a synthesizer is asked for it: with the voice that the bot names for it, and its words as they are spoken. */
  requestFor(name: string, bot: SpeakingBot, asked: SynthesisRequest): SynthesisRequest {
    const voice = voiceOf(name, bot, asked, this.#options.defaults);
    return {
      ...asked,
      text: pronounced(asked.text, this.#pronunciationOf(bot)),
      voice: voice ?? this.#vendors.get(name)?.synthesizer?.capabilities.defaultVoice ?? asked.voice,
    };
  }

  #pronunciationOf({ pronounce = AS_WRITTEN }: SpeakingBot): Pronunciation {
    const known = this.#pronunciations.get(pronounce);
    if (known !== undefined) return known;
    const words = { ...this.#options.pronounce, ...pronounce };
    this.#pronunciations.set(pronounce, words);
    return words;
  }

  /** Synthesises sentences ahead of time, so that they come from memory. @throws SpeechError; finished sentences stay */
  async prepare(name: string, requests: readonly SynthesisRequest[]): Promise<void> {
    await this.#vendors.get(name)?.prepare(requests);
  }

  /** @throws SpeechRequestError for bots that name a vendor that could not be opened */
  check(bots: readonly SpeakingBot[]): void {
    for (const [name, cause] of this.#broken) {
      if (!isNamed(name, bots, this.#options.defaults)) continue;
      const message = `the speech vendor ${name} could not be opened when the gateway started: ${cause.message}`;
      throw new SpeechRequestError(`${message}; correct its settings and start the gateway again`, { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#vendors.values()].map((vendor) => vendor[Symbol.asyncDispose]()));
  }

  #open(vendor: SpeechVendor, config: AdapterConfig): OpenVendor | undefined {
    const { bots, clock, defaults, logger } = this.#options;
    try {
      return vendor.open(config, { clock, logger });
    } catch (error) {
      if (!(error instanceof SpeechError) || bots === undefined || isNamed(vendor.name, bots, defaults)) throw error;
      logger.info({ vendor: vendor.name, error }, 'speech vendor not opened: no bot uses it');
      this.#broken.set(vendor.name, error);
      return undefined;
    }
  }

  #placed({ vendor, lane }: SpeechPlace): ReturnType<SpeechRouter['reservePlace']> {
    const slot = this.#vendors.get(vendor)?.reserve(lane);
    return slot && { vendor, lane, release: () => slot.release() };
  }

  #choicesOf(bot: SpeakingBot): CallChoices {
    const { spare } = this.#options;
    return {
      recognisers: (language) =>
        this.#byHealth('recognition', this.#listed('recogniser', bot, language)).flatMap((vendor): RecognitionChoice[] => {
          const { name, recogniser } = vendor;
          return recogniser === undefined
            ? []
            : [
                {
                  name,
                  recogniser,
                  reserve: () => (spare === undefined ? vendor.reserve() : spare(name)),
                  mayIdle: () => spare !== undefined || this.#mayIdle(vendor),
                },
              ];
        }),
      synthesizers: (language) =>
        this.#byHealth('synthesis', this.#listed('synthesizer', bot, language)).flatMap((vendor): SynthesisCandidate[] => {
          const { name, voice } = vendor;
          return voice === undefined ? [] : [{ name, synthesizer: voice, request: (asked) => this.requestFor(name, bot, asked) }];
        }),
    };
  }

  /** The configured ones of those that a bot names for a language, as it names them; those that know it, if any does. */
  #listed(service: keyof SpeechDefaults, bot: SpeakingBot, language: string): readonly RoutedVendor[] {
    const able = chosen(service, bot, language, this.#options.defaults).flatMap((name) => {
      const vendor = this.#vendors.get(name);
      return vendor?.[service] === undefined ? [] : [vendor];
    });
    const knowing = able.filter((vendor) => {
      const capabilities = vendor[service]?.capabilities;
      return capabilities !== undefined && knows(capabilities, language);
    });
    return knowing.length > 0 ? knowing : able;
  }

  #byHealth(service: SpeechSwitch['service'], vendors: readonly RoutedVendor[]): readonly RoutedVendor[] {
    const well = vendors.filter((vendor) => this.#isWell(service, vendor));
    return [...well, ...vendors.filter((vendor) => !well.includes(vendor))];
  }

  /** Other bots' calls need the slots more than a session that only stands by: half of them stay free for those. */
  #mayIdle({ name, freeSlots }: RoutedVendor): boolean {
    return freeSlots - 1 >= (this.#limits.get(name) ?? 0) / 2;
  }

  #isWell(service: SpeechSwitch['service'], vendor: RoutedVendor): boolean {
    return vendor.isUp && this.#health.isWell(service, vendor.name);
  }
}

/** Whether another request could succeed where this one failed: a voice that does not exist, or too many at once in this process. */
function tellsOfRequest(error: unknown): boolean {
  return error instanceof SpeechRequestError || error instanceof SpeechOverloadedError;
}

const unchanged: Voiced = (_name, synthesizer) => synthesizer;
