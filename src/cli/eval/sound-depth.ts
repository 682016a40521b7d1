import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Bot } from '../../config/bots.ts';
import { usesEmbeddedPlatform } from '../../config/load.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { momentAt } from '../../rehearsal/chat/open-chat.ts';
import { type Evidence, nothingOf } from '../../rehearsal/evals/evidence.ts';
import type { Rehearsal } from '../../rehearsal/evals/rehearsal.ts';
import { isAlone } from '../../rehearsal/evals/text-depth.ts';
import { CallerVoice, type SpeechStyle } from '../../sim/caller/voice.ts';
import { simulatedCarriers } from '../../sim/carriers.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { UsageError } from '../shell/output.ts';
import { SoundStage } from './sound-stage.ts';
import { SpeechHere } from './speech-here.ts';

/** How much faster than the machine's clock calls go at most. */
const FASTEST = 12;

export interface SoundDepthOptions {
  /** Name of a simulated carrier. */
  readonly carrier: string;
  readonly bots: readonly Bot[];
  /** Where the sound of a call is kept, as a WAV file; nowhere when absent. */
  readonly soundPath?: ((rehearsal: Rehearsal) => string | undefined) | undefined;
}

/** Opens what calls with sound need: speech, a voice, and for each date a gateway, at a simulated carrier alone. */
export class SoundDepth implements AsyncDisposable {
  readonly #options: SoundDepthOptions;
  readonly #voice = new CallerVoice();
  readonly #said = new Map<string, Promise<Int16Array>>();
  readonly #stages = new Map<string, Promise<SoundStage>>();
  #speech: Promise<SpeechHere | undefined> | undefined;

  /** @throws UsageError for a carrier that is not simulated: a suite never reaches a telephone network */
  constructor(options: SoundDepthOptions) {
    const simulated = simulatedCarriers.map(({ name }) => name);
    if (!simulated.includes(options.carrier))
      throw new UsageError(`evals call only simulated carriers, and "${options.carrier}" is none: ${simulated.join(', ')}`);
    this.#options = options;
  }

  /** Plays a scenario as a call with sound. Never rejects for what the bot does. */
  readonly rehearse = async (rehearsal: Rehearsal): Promise<Evidence> => {
    try {
      const stage = await this.#stageOf(rehearsal);
      const { evidence, sound } = await stage.call(rehearsal);
      const path = this.#options.soundPath?.(rehearsal);
      if (path === undefined || sound === undefined) return evidence;
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, sound);
      return { ...evidence, sound: path };
    } catch (error) {
      return nothingOf(rehearsal.bot, errorTextWithCause(error));
    }
  };

  #stageOf({ scenario, suite, bot, world }: Rehearsal): Promise<SoundStage> {
    const atWallMs = momentAt(scenario.at ?? suite.at, bot.timeZone);
    const { carrier, bots } = this.#options;
    // A server outside answers in the time that it takes.
    const times = world.isClosed || isAlone(bot) ? FASTEST : 1;
    const key = `${atWallMs} ${times}`;
    const open = async (): Promise<SoundStage> => {
      const speech = await (this.#speech ??= this.#startSpeech());
      return SoundStage.open({ carrier, bots, atWallMs, times, speech, say: this.#say });
    };
    const stage = this.#stages.get(key) ?? open();
    this.#stages.set(key, stage);
    return stage;
  }

  async #startSpeech(): Promise<SpeechHere | undefined> {
    const { config } = requireConfiguration();
    return usesEmbeddedPlatform(config) ? await SpeechHere.start(config, this.#options.bots) : undefined;
  }

  /** The same words sound the same, and are spoken once. */
  readonly #say = (text: string, style: SpeechStyle): Promise<Int16Array> => {
    const key = JSON.stringify([text, style]);
    const said = this.#said.get(key) ?? this.#voice.say(text, style);
    this.#said.set(key, said);
    return said;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const stages = await Promise.allSettled(this.#stages.values());
    for (const stage of stages) if (stage.status === 'fulfilled') await stage.value[Symbol.asyncDispose]();
    await this.#voice[Symbol.asyncDispose]();
    const speech = await this.#speech?.catch(() => undefined);
    await speech?.[Symbol.asyncDispose]();
  }
}
