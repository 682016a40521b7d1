import { z } from 'zod';
import { isTimeZone } from './time-zone.ts';
import type { Secret } from './secrets.ts';
import { acts, modelTools } from './bot-tools.ts';
import { botAnswering } from './bot-answering.ts';
import { botPhrases, defaultPhrases, type PhraseSet } from './bot-phrases.ts';
import { DEFAULT_TENANT, tenantId } from './tenant-id.ts';
import { REALTIME_VENDORS } from './realtime-vendors.ts';
import { ringMs, transferTarget } from './transfer-target.ts';
import { botSpend } from './spend-settings.ts';
import { whenDown } from './when-down.ts';

const language = z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'an ISO 639 code, for example en or hi');
const wait = (least: number, most: number, byDefault: number) => z.int().min(least).max(most).default(byDefault);
const days = z.int().min(0).max(36_500);

/** An address that requests can be sent to. */
export function isWebAddress(text: string): boolean {
  return webAddress.safeParse(text).success;
}

/** The environment variable that holds a secret, or with `_FILE` behind it the file that does. */
const secretName = z.string().regex(/^[A-Z][A-Z0-9_]{0,99}$/, 'the name of an environment variable, in capitals');
/** Allowed transfer targets: a number, a prefix followed by `*`, a `sip:` address, or all of one host (`sip:*@pbx.example`). */
const transferPattern = z
  .string()
  .regex(
    /^(?:\+[1-9]\d{1,14}\*|\+[1-9]\d{6,14}|sips?:\*@[^\s<>"'*]{3,200}|sips?:[^\s<>"'*]{3,200})$/i,
    'a number in E.164 form (+15550100), the beginning of one (+155501*), or a sip: address (sip:desk@pbx.example, sip:*@pbx.example)',
  );
const agentKey = z.string().regex(/^[0-9*#]$/, 'one key: 0-9, * or #');

/** Keys that a bot may press at the other end. */
export const keysToPress = z.string().regex(/^[0-9*#w]{1,64}$/, 'keys of 0-9, * and #, and w to wait half a second; at most 64');
/** A file of the bot's folder or an address; whether it can be played is known when it is. */
export const soundSource = z.string().min(1).max(2000);
const webAddress = z.url({ protocol: /^https?$/ });

/** Transfer targets of a model, by the names it is given; `warm`: an agent who is rung first, and hears what the model writes. */
const modelTransfers = z
  .record(
    z.string().min(1).max(64),
    z.union([
      transferTarget.transform((to) => ({ to, warm: false })),
      z.strictObject({ to: transferTarget, warm: z.boolean().default(false) }),
    ]),
  )
  .default({});

// What a speech-to-speech model says cannot be checked before it is heard; it asks callers for nothing to remember.
const { guard: _guard, memory: _memory, ...spokenModelTools } = modelTools;

const dialogSettings = z.discriminatedUnion('kind', [
  /** Exactly one of the two; the flow document itself is read by the dialog. */
  z.strictObject({
    kind: z.literal('flow'),
    file: z.string().min(1).optional(),
    flow: z.unknown().optional(),
    /** Gets what the flow's `request` steps ask. */
    server: z
      .strictObject({
        url: webAddress.optional(),
        /** Or the environment variable that holds its address. */
        urlEnv: secretName.optional(),
        /** Signs the requests. */
        secretEnv: secretName.optional(),
      })
      .refine(
        ({ url, urlEnv }) => (url === undefined) !== (urlEnv === undefined),
        'a server needs either url or urlEnv, and not both',
      )
      .optional(),
  }),
  z.strictObject({ kind: z.literal('module'), file: z.string().min(1) }),
  /** A server that gets one POST a turn. */
  z.strictObject({
    kind: z.literal('http'),
    url: webAddress,
    secretEnv: secretName.optional(),
    timeoutMs: wait(500, 60_000, 8000),
  }),
  /** A server that speaks the ConversationRelay messages over a WebSocket. */
  z.strictObject({
    kind: z.literal('relay'),
    url: z.url({ protocol: /^wss?$/ }),
    /** Signs the handshake the way the carrier of that protocol does. */
    secretEnv: secretName.optional(),
    timeoutMs: wait(500, 60_000, 8000),
    /** Said when the call begins; without it the server speaks first. */
    greeting: z.string().min(1).max(1000).optional(),
    /** Given to the server as custom parameters. */
    parameters: z.record(z.string(), z.string()).default({}),
  }),
  /** A model behind an OpenAI-compatible chat address. */
  z.strictObject({
    kind: z.literal('llm'),
    baseUrl: webAddress,
    model: z.string().min(1).max(200),
    secretEnv: secretName.optional(),
    /** The model's instructions. */
    instructions: z.string().min(1).max(50_000),
    /** Said when the call begins; without it the model greets. */
    greeting: z.string().min(1).max(1000).optional(),
    temperature: z.number().min(0).max(2).optional(),
    /** How much a reasoning model thinks before it speaks. */
    reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
    /** Limit of one answer, including reasoning. */
    maxTokens: wait(1, 32_768, 400),
    /** Longest silence of the model, and longest time of a tool. */
    timeoutMs: wait(500, 60_000, 8000),
    /** All waits of a turn together, for the model and its tools. */
    turnTimeoutMs: wait(500, 300_000, 30_000),
    ...modelTools,
    transfers: modelTransfers,
  }),
  /** A speech-to-speech model, which hears the caller and speaks with its own voice. */
  z.strictObject({
    kind: z.literal('realtime'),
    vendor: z.enum(REALTIME_VENDORS).default('openai'),
    /** Address of the vendor's socket, or of a server that speaks its protocol; the vendor's own where absent. */
    url: z.url({ protocol: /^wss?$/ }).optional(),
    /** The vendor's default where absent; at Azure the name of the deployment. */
    model: z.string().min(1).max(200).optional(),
    secretEnv: secretName.optional(),
    /** The model's voice; the bot's `voice` says the greeting and ready-made sentences. */
    voice: z.string().min(1).max(200).optional(),
    /** The model's instructions. */
    instructions: z.string().min(1).max(50_000),
    /** Said by the bot's `voice` when the call begins; without it the model greets. */
    greeting: z.string().min(1).max(1000).optional(),
    /** Who finds the end of the caller's turns: the gateway, or the model. */
    turns: z.enum(['offhook', 'model']).default('offhook'),
    /** How much a reasoning model thinks before it speaks. */
    reasoningEffort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
    /** Limit of one answer. */
    maxTokens: wait(1, 32_768, 4096),
    /** Limit of all tokens of a call, those of its input and cached ones included: beyond it the bot says goodbye. */
    maxCallTokens: z.int().min(1000).max(100_000_000).optional(),
    /** Longest silence of the model, and longest time of a tool. */
    timeoutMs: wait(500, 60_000, 8000),
    /** All waits of a turn together, for the model and its tools. */
    turnTimeoutMs: wait(500, 300_000, 30_000),
    ...spokenModelTools,
    transfers: modelTransfers,
  }),
]);

const vendorName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'platform, or the name of a speech vendor');
/** Vendors in order of preference: each stands in for the one before. */
const vendorChoice = z.union([vendorName.transform((name) => [name]), z.array(vendorName).min(1).max(3)]);

/** Recogniser and synthesizer: for all languages, or by language. The settings' where absent. */
const botSpeech = z
  .strictObject({
    recogniser: vendorChoice.optional(),
    synthesizer: vendorChoice.optional(),
    /** Voices of vendors, by vendor; the bot's `voice` is of the first synthesizer. */
    voices: z.record(vendorName, z.string().min(1).max(200)).default({}),
    languages: z
      .record(
        language,
        z.strictObject({
          recogniser: vendorChoice.optional(),
          synthesizer: vendorChoice.optional(),
          voices: z.record(vendorName, z.string().min(1).max(200)).default({}),
        }),
      )
      .default({}),
  })
  .prefault({});

/** One bot file, as written in `config/bots/<name>.yaml`. Durations are milliseconds. */
export const botSettings = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and hyphens, at most 63'),
    /** The customer or brand that owns the bot: its calls, records and API keys belong to this tenant. */
    tenant: tenantId.default(DEFAULT_TENANT),
    /** Dialled numbers this bot answers, as the carrier writes them (E.164). */
    numbers: z.array(z.string().min(1).max(128)).max(10_000).default([]),
    /** Why the bot is not edited in the console, for example where it comes from; absent where it may be. */
    readOnly: z.string().min(1).max(300).optional(),
    /** Answers every number that no other bot names; one bot of a tenant at most. */
    default: z.boolean().default(false),
    language: language.default('en'),
    /** Languages of callers, the bot's among them: the first turn decides which one is spoken from then on, and a caller may ask for another. */
    languages: z.array(language).max(8).default([]),
    /** Decides what day it is for a caller who says `tomorrow`. */
    timeZone: z.string().default('UTC').refine(isTimeZone, 'a time zone such as Asia/Kolkata'),
    voice: z.string().min(1).max(200),
    speech: botSpeech,
    /** How words are spoken where a voice reads them wrongly; a word in lower case stands for any case. The settings' words apply beside them. */
    pronounce: z.record(z.string().min(1).max(100), z.string().min(1).max(200)).default({}),
    /** Speaking rate, 1 is the voice's own. */
    speed: z.number().min(0.25).max(4).default(1),
    dialog: dialogSettings,
    /** What callers say, in the bot's language, beside what its flow says: the built-in recogniser learns it. */
    hints: z.array(z.string().min(1).max(100)).max(200).default([]),
    /**
     * Asks the dialog before the caller's turn is over, and uses the answer if it held all their words: quicker, for more
     * requests. Only for dialogs that do nothing that cannot be undone.
     */
    askEarly: z.boolean().default(false),
    /** Silence that ends a turn of which nothing else is known; words, pauses and a model lengthen or shorten it. */
    endpointingMs: wait(200, 5000, 600),
    /** Soft background sound under the bot's words and between them; none where absent. */
    ambience: z
      .strictObject({
        /** One that is made here from noise. */
        room: z.enum(['office', 'cafe']).optional(),
        /** Or a WAV file of the bot's folder, repeated; up to five minutes. */
        file: z.string().min(1).max(500).optional(),
        /** Its level in dBFS; a voice is at about -20. */
        levelDb: z.number().min(-65).max(-35).default(-48),
      })
      .refine(
        ({ room, file }) => (room === undefined) !== (file === undefined),
        'ambience needs either room or file, and not both',
      )
      .optional(),
    interruption: z
      .strictObject({
        /** What may interrupt the bot where the dialog does not say. */
        allow: z.enum(['always', 'keypad', 'never']).default('always'),
        /** Voice above the predicted echo that turns a hold into a clear. */
        clearAfterMs: wait(40, 2000, 120),
        /** Time in which recognised words may still reverse a decision that sound made. */
        reverseWithinMs: wait(0, 10_000, 1500),
        /** Phrases that stop the bot whatever the sound level. */
        stopPhrases: z.array(z.string().min(1).max(100)).max(10).default([]),
      })
      .prefault({}),
    /** What tells the caller's voice from other sound: the built-in detector, or beside it a neural network, for noisy lines. */
    detector: z.enum(['energy', 'neural']).default('energy'),
    /** Whether noise is taken out of what the recogniser hears. Measure it with the recogniser in use: bench/recogniser. */
    noiseSuppression: z.boolean().default(false),
    /** Silence of the caller that is reported to the dialog, and how often in a row before the call ends with the goodbye. */
    noInputMs: wait(1000, 120_000, 8000),
    noInputAttempts: wait(0, 10, 4),
    /** Whether an opt-out is obeyed: the bot confirms it, hangs up, and the number is not called again. `off` ignores it on inbound calls only. */
    optOut: z.enum(['on', 'off']).default('on'),
    /** A key that says the same, where no question expects digits. */
    optOutKey: z
      .string()
      .regex(/^[0-9*#]$/, 'one key: 0-9, * or #')
      .optional(),
    /** The organisation outbound calls of this bot are made for, where the dialling profile requires it to be said; the settings' where absent. */
    identity: z
      .strictObject({
        name: z.string().min(1).max(200).optional(),
        /** Takes requests not to be called. */
        callbackNumber: z
          .string()
          .regex(/^\+[1-9]\d{6,14}$/, 'a number in E.164 form (+18005550100)')
          .optional(),
      })
      .prefault({}),
    /** What is done when something else than a person answers a call that Offhook places. */
    answered: botAnswering,
    /** Transfer target for a silent caller, in place of the goodbye. */
    noInputTransfer: transferTarget.optional(),
    /** Transfer target after the apology, when the dialog cannot greet or fails too often. */
    failureTransfer: transferTarget.optional(),
    /** What is done for callers, in this order, when the bot's own server is down: another bot, a person, a message, a call back. */
    whenDown: whenDown.optional(),
    /** What its calls may cost; see `spend` of the settings. */
    spend: botSpend.prefault({}),
    /** The dialog's transfer targets, and how agents are rung for warm transfers. */
    transfers: z
      .strictObject({
        /** The only targets of warm transfers; where set, cold transfers of the dialog are limited to it too. */
        allow: z.array(transferPattern).max(1000).optional(),
        /** The caller id that agents see; the bot's number in the call where absent. */
        callerId: z
          .string()
          .regex(/^\+[1-9]\d{6,14}$/, 'a number in E.164 form (+18005550100)')
          .optional(),
        ringMs: ringMs.default(30_000),
        /** The keys by which an agent takes the call, or does not. */
        acceptKey: agentKey.default('1'),
        declineKey: agentKey.default('2'),
        /** How long an agent may take to press one, from the end of the brief. */
        answerMs: wait(5000, 60_000, 20_000),
        /** How often a waiting caller is told that they are still being connected. */
        comfortMs: wait(5000, 60_000, 12_000),
        /** What a waiting caller hears, a WAV file of the bot's folder that is repeated; a soft ringing tone where absent. */
        hold: z.string().min(1).max(500).optional(),
        /** Connects the two: the carrier, where it can, or always the gateway, which goes on recording. */
        joinBy: z.enum(['carrier', 'gateway']).default('carrier'),
      })
      .refine(({ acceptKey, declineKey }) => acceptKey !== declineKey, {
        path: ['declineKey'],
        error: 'has to be another key than acceptKey',
      })
      .prefault({}),
    /** Longest call. A minute before its end the next reply says so, where the call may last more than two. */
    maxDurationMs: wait(1000, 86_400_000, 3_600_000),
    /**
     * What is kept of a call's sound: everything, what follows the greeting once that was heard out, or what follows a
     * `recording` action of the dialog. The recogniser hears everything in any case.
     */
    recording: z.enum(['never', 'after-announcement', 'after-consent', 'always']).default('always'),
    /** What a recording is turned into after its call; the settings' where absent. */
    recordingFormat: z.enum(['wav', 'flac', 'opus']).optional(),
    /** Days after a call's end at which its sound, and its words with numbers and analyses, are erased; the settings' where absent, 0 for never. */
    retention: z.strictObject({ audioDays: days.optional(), textDays: days.optional() }).prefault({}),
    /** What happens to a call that finds no free speech slot. */
    overflow: z.strictObject({ say: z.string().min(1).max(1000).optional() }).prefault({}),
    /** Ready-made sentences by language; missing ones are built in for English and Hindi. */
    phrases: z.record(language, botPhrases).default({}),
  })
  .superRefine((bot, context) => {
    const { dialog } = bot;
    if (bot.languages.length > 0 && (bot.languages.length < 2 || !bot.languages.includes(bot.language))) {
      const message = `needs the bot's own language (${bot.language}) and at least one more`;
      context.addIssue({ code: 'custom', path: ['languages'], message });
    }
    if (bot.languages.length > 0 && bot.askEarly) {
      const message = 'cannot be found by a bot that is asked early: its first answer would be in the wrong one';
      context.addIssue({ code: 'custom', path: ['languages'], message });
    }
    const early = dialog.kind === 'relay' || dialog.kind === 'realtime' || (dialog.kind === 'llm' && acts(dialog));
    if (bot.askEarly && early) {
      context.addIssue({
        code: 'custom',
        path: ['askEarly'],
        message:
          'a relay bot, a realtime model, or a model with tools of its own, cannot be asked early: what it did could not be undone',
      });
    }
    if (bot.failureTransfer !== undefined && bot.phrases[bot.language]?.apology === undefined) {
      const message = `needs an apology of the bot's own (phrases.${bot.language}.apology): the built-in one says goodbye`;
      context.addIssue({ code: 'custom', path: ['failureTransfer'], message });
    }
    if (bot.failureTransfer !== undefined && bot.whenDown !== undefined) {
      const message = 'is not used where there is a list: make it a step of whenDown (transfer: NUMBER)';
      context.addIssue({ code: 'custom', path: ['failureTransfer'], message });
    }
    if (dialog.kind === 'realtime') addRealtimeIssues(dialog, context);
    if (dialog.kind === 'flow' && (dialog.file === undefined) === (dialog.flow === undefined)) {
      context.addIssue({ code: 'custom', path: ['dialog'], message: 'a flow bot needs either file or flow, and not both' });
    }
  });

/** What a vendor of speech-to-speech models needs or cannot do. */
function addRealtimeIssues(
  { vendor, url, secretEnv, turns, knowledge, thinker }: z.output<typeof dialogSettings> & { kind: 'realtime' },
  context: z.RefinementCtx,
): void {
  const add = (key: string, message: string): void => context.addIssue({ code: 'custom', path: ['dialog', key], message });
  if (vendor === 'azure' && url === undefined)
    add('url', 'azure needs its address: wss://RESOURCE.openai.azure.com/openai/v1/realtime');
  if (vendor === 'gemini' && turns === 'model') add('turns', 'gemini does not say when a turn is over: use offhook');
  if (url === undefined && secretEnv === undefined)
    add('secretEnv', 'is needed at the vendor: only a server of your own (url) goes without a key');
  if (knowledge !== undefined && knowledge.grounded)
    add('knowledge', 'cannot be grounded: what this model says is heard before it can be checked');
  if (thinker !== undefined && thinker.baseUrl === undefined) add('thinker', 'needs its own baseUrl');
  if (url !== undefined && /[?&](?:key|api[-_]?key|token|access_token)=/iu.test(url))
    add('url', 'must not hold a key: use secretEnv');
  if (secretEnv !== undefined && url?.startsWith('ws:') === true && !isLocalAddress(url))
    add('url', 'would send the key unencrypted: give a wss address');
}

function isLocalAddress(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(new URL(url).hostname);
}

export type BotSettings = z.infer<typeof botSettings>;

/** A version of a bot that a share of its new calls gets. */
interface Trial {
  readonly percent: number;
  readonly bot: Bot;
}

/** A bot that was read and checked. */
export interface Bot extends BotSettings {
  /** The folder its file lies in: relative names in the file start there. */
  readonly folder: string;
  /** The file itself; undefined for a bot that was not read from one. */
  readonly file?: string;
  /** Twelve hex digits that change with its file, and with the flow, module or tools file that it names. */
  readonly version?: string;
  /** `file:line` of what is under these keys of its file; undefined for a bot that was not read from one. */
  readonly whereOf?: (keys: readonly PropertyKey[]) => string;
  /** Another version that a share of new calls gets. */
  readonly trial?: Trial | undefined;
  /** Reads an earlier version, for a call that goes on; undefined where it was not published. */
  readonly earlier?: ((version: string) => Bot | undefined) | undefined;
  /** The address of a flow's server; undefined without one, or with its variable unset. */
  readonly serverUrl?: string | undefined;
  /** The value of the dialog's `secretEnv`, or of its server's. */
  readonly dialogSecret?: Secret | undefined;
  /** Values of the environment variables that the dialog's tools name. */
  readonly toolSecrets?: Readonly<Record<string, Secret>> | undefined;
}

/** The sentences a bot keeps ready in one language: its own, else the built-in ones. */
export function phrasesOf(bot: Pick<Bot, 'language' | 'phrases' | 'overflow'>, languageCode: string = bot.language): PhraseSet {
  const builtIn = defaultPhrases(languageCode);
  const own = bot.phrases[languageCode] ?? {};
  const overflow = languageCode === bot.language ? bot.overflow.say : undefined;
  const worded = Object.entries(own).filter(([, sentence]) => sentence !== undefined);
  return { ...builtIn, ...Object.fromEntries(worded), ...(overflow === undefined ? {} : { overflow }) };
}

export interface BotQuery {
  /** The bot named in the webhook's path. */
  readonly pathName?: string | undefined;
  /** The bot named by a custom parameter of the call. */
  readonly parameter?: string | undefined;
  readonly dialledNumber?: string | undefined;
  /** Tenant of the account that the call came in on: only its bots answer. Undefined for an account shared by all tenants. */
  readonly tenantId?: string | undefined;
}

/** A dialled number without the marks people write in it; a SIP address is reduced to its user part. */
export function plainNumber(written: string): string {
  const user = /^sips?:([^@;]*)/i.exec(written.trim())?.[1] ?? written;
  return user.replaceAll(/[\s().-]/g, '');
}

/**
 * The bot that answers a call: by path, else by parameter, else by dialled number, else the default bot. A name that
 * is given and unknown finds nothing, so that a mistyped address is noticed instead of answered by the wrong bot. On a shared account, numbers
 * that no bot names reach the default bot of the tenant `default`.
 */
export function findBot(all: readonly Bot[], query: BotQuery): Bot | undefined {
  const bots = query.tenantId === undefined ? all : botsOfTenant(all, query.tenantId);
  const name = query.pathName ?? query.parameter;
  if (name !== undefined && name !== '') return bots.find((bot) => bot.name === name);
  const dialled = plainNumber(query.dialledNumber ?? '');
  const byNumber = dialled === '' ? undefined : bots.find((bot) => bot.numbers.some((number) => plainNumber(number) === dialled));
  return byNumber ?? botsOfTenant(all, query.tenantId ?? DEFAULT_TENANT).find((bot) => bot.default);
}

/** The bots that a tenant's calls, keys and people reach. */
export function botsOfTenant<Each extends Pick<Bot, 'tenant'>>(bots: readonly Each[], tenant: string): Each[] {
  return bots.filter((bot) => bot.tenant === tenant);
}
