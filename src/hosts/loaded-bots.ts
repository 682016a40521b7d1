import { type AmbientLoops, loadAmbiences, loadHoldSounds } from '../call/outbound/ambience/load-ambience.ts';
import { SpeechJudge } from '../call/inbound/neural/speech-judge.ts';
import type { Bot } from '../config/bots.ts';
import { type BotDialog, loadBotDialog } from '../dialog/bot-dialog.ts';
import type { BotHealth } from '../dialog/bot-health.ts';
import type { RecallCaller } from '../dialog/caller-memory.ts';
import { whenDownOf } from '../dialog/fail-over.ts';
import type { DialogHookFactory } from '../dialog/port.ts';
import { switchingBots } from '../dialog/switching-bots.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';

/** Bots that are ready for calls. A call keeps those that it began with, also where others take their place. */
export interface LoadedBots {
  readonly bots: readonly Bot[];
  readonly dialogs: ReadonlyMap<string, BotDialog>;
  /** The same dialogs as calls ask them: each may hand a call on to any other bot of its tenant. */
  readonly hooks: ReadonlyMap<string, DialogHookFactory>;
  readonly ambiences: ReadonlyMap<Bot, AmbientLoops>;
  /** What callers hear who wait for an agent, of bots that have a sound for it. */
  readonly holdSounds: ReadonlyMap<Bot, AmbientLoops>;
}

interface LoadingParts {
  /** Reads what is known of callers who agreed to be remembered. */
  readonly recall?: RecallCaller | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: BusinessEvents;
  /** Which bots' servers are down, whatever files they are read from. */
  readonly health: BotHealth;
  /** Whether callers of a tenant's bots can be promised a call. */
  readonly placesCalls: (tenant: string) => boolean;
}

/** The bots that new calls get, and what live calls still hold of earlier ones. */
export class BotsOfCalls implements AsyncDisposable {
  readonly #parts: LoadingParts;
  // A call finds the room of its bot here for as long as anything holds on to that bot.
  readonly #ambiences = new WeakMap<Bot, AmbientLoops>();
  readonly #holdSounds = new WeakMap<Bot, AmbientLoops>();
  readonly #formats = new Map<string, Bot['recordingFormat']>();
  #loaded: LoadedBots = { bots: [], dialogs: new Map(), hooks: new Map(), ambiences: new Map(), holdSounds: new Map() };
  #speechJudge: SpeechJudge | undefined;
  /** Let go of what the bots' tools are connected to. */
  #releases: readonly (() => Promise<void>)[] = [];

  constructor(parts: LoadingParts) {
    this.#parts = parts;
  }

  get loaded(): LoadedBots {
    return this.#loaded;
  }

  /** Undefined until a bot has the neural detector. */
  get speechJudge(): SpeechJudge | undefined {
    return this.#speechJudge;
  }

  /** Loads the dialogs and rooms of bots. @throws OffhookError when a dialog cannot be opened */
  load(bots: readonly Bot[]): Promise<LoadedBots> {
    return loadBotsForCalls(bots, this.#parts);
  }

  /** Has new calls get these bots. */
  use(next: LoadedBots): void {
    this.#loaded = next;
    const before = this.#releases;
    this.#releases = [...next.dialogs.values()].flatMap((dialog) => dialog.hold?.() ?? []);
    // Live calls hold what they use themselves.
    for (const release of before) void release();
    for (const bot of next.bots) this.#formats.set(bot.name, bot.recordingFormat);
    for (const [bot, room] of next.ambiences) this.#ambiences.set(bot, room);
    for (const [bot, sound] of next.holdSounds) this.#holdSounds.set(bot, sound);
    if (next.bots.some(({ detector }) => detector === 'neural')) this.#speechJudge ??= new SpeechJudge(this.#parts);
  }

  ambienceOf(bot: Bot): AmbientLoops | undefined {
    return this.#ambiences.get(bot);
  }

  holdSoundOf(bot: Bot): AmbientLoops | undefined {
    return this.#holdSounds.get(bot);
  }

  recordingFormatOf(botName: string): Bot['recordingFormat'] {
    return this.#formats.get(botName);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#releases.map((release) => release()));
    await this.#speechJudge?.[Symbol.asyncDispose]();
  }
}

async function loadBotsForCalls(
  bots: readonly Bot[],
  { clock, logger, health, placesCalls, recall }: LoadingParts,
): Promise<LoadedBots> {
  const entries = await Promise.all(bots.map(async (bot) => ({ bot, dialog: await loadBotDialog(bot, clock, clock, recall) })));
  const byBot = (loops: ReadonlyMap<string, AmbientLoops>): ReadonlyMap<Bot, AmbientLoops> =>
    new Map(
      bots.flatMap((bot) => {
        const loop = loops.get(bot.name);
        return loop === undefined ? [] : [[bot, loop] as const];
      }),
    );
  return {
    bots,
    dialogs: new Map(entries.map(({ bot, dialog }) => [bot.name, dialog])),
    hooks: new Map(
      [...new Set(bots.map(({ tenant }) => tenant))].flatMap((tenant) => {
        const own = entries.filter(({ bot }) => bot.tenant === tenant);
        const switchable = own.map(({ bot, dialog }) => ({
          bot,
          hooks: dialog.hooks,
          whenDown: whenDownOf(bot, placesCalls(tenant)),
        }));
        return [...switchingBots(switchable, { health, clock })];
      }),
    ),
    ambiences: byBot(await loadAmbiences(bots, logger)),
    holdSounds: byBot(await loadHoldSounds(bots, logger)),
  };
}
