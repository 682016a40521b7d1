import type { FastifyInstance } from 'fastify';
import { randomInt } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { type Logger, silentLogger } from '../../observability/logger.ts';
import type { Analyser } from '../engines/analyse/port.ts';
import { builtInAnalyser } from '../engines/analyse/built-in-analyser.ts';
import type { RecognitionEngine } from '../engines/recognise/port.ts';
import type { SynthesisEngine } from '../engines/synth/port.ts';
import { builtInSpeakers } from '../engines/speakers/diarise.ts';
import type { SpeakerProfiles, SpeakerEngine } from '../engines/speakers/port.ts';
import { type ApiKeyFile, newApiKey, type ApiKeyEntry, ApiKeys } from '../keys/api-keys.ts';
import { MediaDecoder, type MediaDecoderOptions } from '../../audio/media/media-decoder.ts';
import { addAltRoutes, altErrorBody } from './alt/alt-service.ts';
import { addAsrRoutes } from './asr/asr-service.ts';
import { RemoteAudio } from './uploads/open-audio.ts';
import { addMintRoutes } from './auth/token-service.ts';
import { Tokens, type SigningKeys } from '../keys/tokens.ts';
import { type Behaviour, behaviourOf, type ProfileName } from './asr/behaviour.ts';
import { FaultDice, type Faults } from './faults/faults.ts';
import {
  addRequestFaults,
  createHttpApp,
  type HttpAppOptions,
  type ListenerName,
  listenerNames,
  type ListenerPorts,
  listenOn,
  portsFrom,
} from './listener/http-app.ts';
import { addDescriptionRoutes } from './describe/descriptions.ts';
import { altService, asrService, authService, medService, ttsService } from './describe/services.ts';
import { altSocket, recognitionSocket, synthesisSocket } from './describe/sockets.ts';
import { defaultLimits, type PlatformLimits } from './listener/limits.ts';
import { addMedRoutes } from './medical/medical-service.ts';
import { compatErrorBody } from './listener/refusal.ts';
import { SpeakerStore } from './speakers/speaker-profiles.ts';
import { addTtsRoutes } from './tts/tts-service.ts';

export interface PlatformEngines {
  readonly synthesis: SynthesisEngine;
  readonly recognition: RecognitionEngine;
  /** The built-in one when absent. */
  readonly analyser?: Analyser;
  /** The built-in one when absent. */
  readonly speakers?: SpeakerEngine;
  /** The voices registered with this platform when absent. */
  readonly profiles?: SpeakerProfiles;
}

export interface PlatformOptions {
  /** 127.0.0.1 when absent. */
  readonly host?: string;
  /** First of five ports; 0 for free ones; 7100 when absent. */
  readonly basePort?: number;
  /** The single ports, instead of `basePort`. */
  readonly ports?: ListenerPorts;
  /** A new development key when absent or empty. The first active one is returned as `apiKey`. */
  readonly apiKeys?: readonly ApiKeyEntry[];
  /** Further keys, read for each request, so that a revocation takes effect at once. */
  readonly keyFile?: ApiKeyFile;
  /** Keys that tokens are signed with; a new pair when absent. */
  readonly signingKeys?: SigningKeys;
  /** Disposed of by the caller. */
  readonly engines: PlatformEngines;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly profile?: ProfileName;
  /** Single settings over the profile. */
  readonly behaviour?: Partial<Behaviour>;
  /** None when absent. */
  readonly faults?: Faults;
  readonly limits?: Partial<PlatformLimits>;
  /** Folder for uploads and speaker profiles. */
  readonly dataDir: string;
  /** Also supports the vendor's newer clients; off: the documents only. */
  readonly compat?: boolean;
  /** Hosts (`host` or `host:port`) that `url` may name although they are private or use plain HTTP. */
  readonly audioHosts?: readonly string[];
  readonly media?: MediaDecoderOptions;
}

export interface RunningPlatform extends AsyncDisposable {
  readonly authUrl: string;
  readonly asrUrl: string;
  readonly asrAltUrl: string;
  readonly medUrl: string;
  readonly ttsUrl: string;
  readonly apiKey: string;
  /** The seed of injected faults. */
  readonly faultSeed: number;
  /** For tests that need special tokens. */
  readonly tokens: Tokens;
  /** Stops listening, closes sockets with 1001. May be called more than once. */
  close(): Promise<void>;
}

const defaultBasePort = 7100;

/** The applications of the five listeners, without routes. */
function createApps(
  clock: Clock,
  logger: Logger,
  limits: PlatformLimits,
  compat: boolean,
): Readonly<Record<ListenerName, FastifyInstance>> {
  const app = (service: ListenerName, extra: Partial<HttpAppOptions> = {}): FastifyInstance => {
    const bodyLimitBytes = limits.jsonBytes;
    // Longer than the slowest answer, so that its 504 comes from this platform.
    const requestTimeoutMs = limits.batchMs + 60_000;
    const { bodyMs: bodyTimeoutMs } = limits;
    return createHttpApp({ service, clock, logger, bodyLimitBytes, requestTimeoutMs, bodyTimeoutMs, ...extra });
  };
  const newer = compat ? { errorBody: compatErrorBody } : {};
  return {
    auth: app('auth', { bodyLimitBytes: 64 * 1024 }),
    asr: app('asr', newer),
    asrAlt: app('asrAlt', { errorBody: altErrorBody }),
    med: app('med'),
    tts: app('tts', newer),
  };
}

/**
 * Starts the speech platform: five loopback listeners over the given engines.
 * @throws PlatformPortError when a port is taken; nothing is left listening then
 */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const { clock, engines } = options;
  const logger = options.logger ?? silentLogger;
  const limits = { ...defaultLimits, ...options.limits };
  const behaviour = behaviourOf(options.profile ?? 'plain', options.behaviour);
  const compat = options.compat ?? false;
  const faultSeed = options.faults?.seed ?? randomInt(2 ** 32);
  const faults = new FaultDice(options.faults ?? {}, faultSeed);
  const entries = options.apiKeys?.length ? options.apiKeys : [{ secret: newApiKey() }];
  const keys = new ApiKeys(entries, options.keyFile);
  const tokens = await Tokens.create(clock, options.signingKeys);
  const apps = createApps(clock, logger, limits, compat);
  for (const name of listenerNames) addRequestFaults(apps[name], faults, clock);
  addMintRoutes(apps.auth, { keys, tokens, clock, mintsPerMinute: limits.mintsPerMinute, compat });
  const speakers = new SpeakerStore(join(options.dataDir, 'speakers.json'), clock);
  const asrEngines = {
    recognition: engines.recognition,
    analyser: engines.analyser ?? builtInAnalyser,
    speakers: engines.speakers ?? builtInSpeakers,
    profiles: engines.profiles ?? speakers,
  };
  const uploadFolder = join(options.dataDir, 'uploads');
  // Uploads left by a killed platform are personal data.
  await rm(uploadFolder, { recursive: true, force: true });
  const intake = {
    limits,
    uploadFolder,
    media: new MediaDecoder(options.media),
    remote: new RemoteAudio({ clock, maxBytes: limits.audioBytes, uploadFolder, allowedHosts: options.audioHosts ?? [] }),
  };
  addAsrRoutes(apps.asr, { tokens, engines: asrEngines, clock, logger, limits, behaviour, faults, intake, speakers, compat });
  addAltRoutes(apps.asrAlt, { keys, engines: asrEngines, speakers, intake, faults, clock, logger });
  addMedRoutes(apps.med, { keys, engines: asrEngines, intake, clock });
  addTtsRoutes(apps.tts, { tokens, engine: engines.synthesis, clock, logger, limits, faults, compat });
  addDescriptionRoutes(apps.auth, authService);
  addDescriptionRoutes(apps.asr, asrService, recognitionSocket);
  addDescriptionRoutes(apps.asrAlt, altService, altSocket);
  addDescriptionRoutes(apps.med, medService);
  addDescriptionRoutes(apps.tts, ttsService, synthesisSocket);

  const close = async (): Promise<void> => {
    await Promise.all(listenerNames.map((name) => apps[name].close()));
  };
  const ports = options.ports ?? portsFrom(options.basePort ?? defaultBasePort);
  const urls = new Map<ListenerName, string>();
  try {
    // One by one, so that the error names the first port taken.
    for (const name of listenerNames) urls.set(name, await listenOn(apps[name], name, options.host ?? '127.0.0.1', ports[name]));
  } catch (error) {
    await close();
    throw error;
  }
  const url = (name: ListenerName): string => urls.get(name) ?? '';
  logger.info({ authUrl: url('auth'), profile: options.profile ?? 'plain' }, 'speech platform listening');
  if (options.faults !== undefined) logger.warn({ faults: options.faults, faultSeed }, 'speech platform has injected faults');
  return {
    authUrl: url('auth'),
    asrUrl: url('asr'),
    asrAltUrl: url('asrAlt'),
    medUrl: url('med'),
    ttsUrl: url('tts'),
    apiKey: entries.find((entry) => (entry.status ?? 'active') === 'active')?.secret ?? '',
    faultSeed,
    tokens,
    close,
    [Symbol.asyncDispose]: close,
  };
}
