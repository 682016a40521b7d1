import { type AmbientLoops, loadAmbiences, loadHoldSounds } from '../call/outbound/ambience/load-ambience.ts';
import { loadNoiseSuppressor, type NoiseSuppressor } from '../call/inbound/neural/noise-suppressor.ts';
import { SpeechJudge } from '../call/inbound/neural/speech-judge.ts';
import { versionKey, withTrials } from '../config/bot-trials.ts';
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
  readonly dialogs: ReadonlyMap<Bot, BotDialog>;
  /**
   * The same dialogs as calls ask them, by bot name and by `versionKey`: each may hand a call on to any other bot of its tenant, in
   * the current version.
   */
  readonly hooks: ReadonlyMap<string, DialogHookFactory>;
  readonly ambiences: ReadonlyMap<Bot, AmbientLoops>;
  /** What callers hear who wait for an agent, of bots that have a sound for it. */
  readonly holdSounds: ReadonlyMap<Bot, AmbientLoops>;
}

export interface LoadingParts {
  /** Reads what is known of callers who agreed to be remembered. */
  readonly recall?: RecallCaller | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: BusinessEvents;
  /** Which bots' servers are down, whatever files they are read from. */
  readonly health: BotHealth;
  /** Whether callers of a tenant's bots can be promised a call. */
  readonly placesCalls: (tenant: string) => boolean;
  /** As in `GatewayOptions`. */
  readonly aroundDialogs?: ((dialog: BotDialog, bot: Bot) => BotDialog) | undefined;
}

/** Versions beside those in use that stay loaded; live calls hold theirs themselves. */
const MOST_EARLIER = 20;

/** The bots that new calls get, and what live calls still hold of earlier ones. */
export class BotsOfCalls implements AsyncDisposable {
  readonly #parts: LoadingParts;
  // A call finds the room of its bot here for as long as anything holds on to that bot.
  readonly #ambiences = new WeakMap<Bot, AmbientLoops>();
  readonly #holdSounds = new WeakMap<Bot, AmbientLoops>();
  readonly #formats = new Map<string, Bot['recordingFormat']>();
  /** Versions that calls of dead processes go on with, and drafts. */
  readonly #earlier = new Map<string, Bot>();
  #loaded: LoadedBots = { bots: [], dialogs: new Map(), hooks: new Map(), ambiences: new Map(), holdSounds: new Map() };
  #speechJudge: SpeechJudge | undefined;
  #noiseSuppressor: NoiseSuppressor | undefined;
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

  /** Undefined until a bot has noise suppression. */
  get noiseSuppressor(): NoiseSuppressor | undefined {
    return this.#noiseSuppressor;
  }

  /**
   * The version that a call began with, for a call that goes on after its process died or its bot was replaced.
   * @returns the version in use where no other can be read
   */
  async versionOf(name: string, version: string | undefined): Promise<Bot | undefined> {
    const { bots, hooks } = this.#loaded;
    const current = bots.find((bot) => bot.name === name);
    if (current === undefined || version === undefined) return current;
    const inUse = withTrials([current]).find((bot) => bot.version === version);
    if (inUse !== undefined) return inUse;
    const kept = this.#earlier.get(versionKey({ name, version }));
    if (kept !== undefined && hooks.has(versionKey({ name, version }))) return kept;
    const found = current.earlier?.(version);
    if (found?.name !== name || found.tenant !== current.tenant) return current;
    const earlier = { ...found, version };
    try {
      const others = bots.map((bot) => (bot === current ? earlier : bot));
      const loaded = await loadBotsForCalls(others, this.#parts);
      this.#keepSounds(loaded);
      const hook = loaded.hooks.get(name);
      if (hook === undefined) return current;
      this.#loaded = { ...this.#loaded, hooks: new Map([...this.#loaded.hooks, [versionKey(earlier), hook]]) };
      this.#keepEarlier(earlier);
      return earlier;
    } catch (error) {
      this.#parts.logger.warn({ bot: name, version, error }, 'version of a bot not loaded: a call goes on in the current one');
      return current;
    }
  }

  #keepEarlier(bot: Bot): void {
    this.#earlier.set(versionKey(bot), bot);
    const [oldest] = this.#earlier.keys();
    if (this.#earlier.size <= MOST_EARLIER || oldest === undefined) return;
    this.#earlier.delete(oldest);
    this.#loaded = { ...this.#loaded, hooks: new Map([...this.#loaded.hooks].filter(([key]) => key !== oldest)) };
  }

  /** Loads the dialogs and rooms of bots. @throws OffhookError when a dialog cannot be opened */
  async load(bots: readonly Bot[]): Promise<LoadedBots> {
    if (bots.some(({ noiseSuppression }) => noiseSuppression)) this.#noiseSuppressor ??= await loadNoiseSuppressor();
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
    this.#keepSounds(next);
    if (withTrials(next.bots).some(({ detector }) => detector === 'neural')) this.#speechJudge ??= new SpeechJudge(this.#parts);
  }

  #keepSounds({ ambiences, holdSounds }: Pick<LoadedBots, 'ambiences' | 'holdSounds'>): void {
    for (const [bot, room] of ambiences) this.#ambiences.set(bot, room);
    for (const [bot, sound] of holdSounds) this.#holdSounds.set(bot, sound);
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

async function loadBotsForCalls(bots: readonly Bot[], parts: LoadingParts): Promise<LoadedBots> {
  const { clock, logger, recall, aroundDialogs = (dialog) => dialog } = parts;
  const trials = bots.flatMap(({ trial }) => trial?.bot ?? []);
  const entries = await Promise.all(
    [...bots, ...trials].map(async (bot): Promise<LoadedEntry> => ({
      bot,
      dialog: aroundDialogs(await loadBotDialog(bot, clock, clock, recall), bot),
    })),
  );
  const current = entries.filter(({ bot }) => !trials.includes(bot));
  const tried = entries.filter(({ bot }) => trials.includes(bot));
  // Loops are loaded by name, which a version shares with its bot.
  const loops = async (load: typeof loadAmbiences): Promise<ReadonlyMap<Bot, AmbientLoops>> => {
    const loaded = await Promise.all([bots, trials].map(async (some) => loopsByBot(some, await load(some, logger))));
    return new Map(loaded.flatMap((some) => [...some]));
  };
  return {
    bots,
    dialogs: new Map(entries.map(({ bot, dialog }) => [bot, dialog])),
    hooks: new Map([
      ...hooksOf(current, parts),
      ...tried.flatMap((entry) => {
        const others = current.filter(({ bot }) => bot.name !== entry.bot.name);
        const hook = hooksOf([...others, entry], parts).get(entry.bot.name);
        return hook === undefined ? [] : [[versionKey(entry.bot), hook] as const];
      }),
    ]),
    ambiences: await loops(loadAmbiences),
    holdSounds: await loops(loadHoldSounds),
  };
}

interface LoadedEntry {
  readonly bot: Bot;
  readonly dialog: BotDialog;
}

/** Dialogs by bot name, each of which may hand a call to any other of its tenant. */
function hooksOf(entries: readonly LoadedEntry[], { clock, health, placesCalls }: LoadingParts): Map<string, DialogHookFactory> {
  const tenants = new Set(entries.map(({ bot }) => bot.tenant));
  return new Map(
    [...tenants].flatMap((tenant) => {
      const own = entries.filter(({ bot }) => bot.tenant === tenant);
      const switchable = own.map(({ bot, dialog }) => ({
        bot,
        hooks: dialog.hooks,
        whenDown: whenDownOf(bot, placesCalls(tenant)),
      }));
      return [...switchingBots(switchable, { health, clock })];
    }),
  );
}

function loopsByBot(bots: readonly Bot[], loops: ReadonlyMap<string, AmbientLoops>): ReadonlyMap<Bot, AmbientLoops> {
  return new Map(
    bots.flatMap((bot) => {
      const loop = loops.get(bot.name);
      return loop === undefined ? [] : [[bot, loop] as const];
    }),
  );
}
