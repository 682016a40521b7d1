import { z } from 'zod';
import { parseJson } from '../../../kernel/json.ts';
import { chooseLanguage, type LanguageChoice, unsupportedLanguage } from '../../languages.ts';
import { firstProblem, flagRule } from '../listener/refusal.ts';
import { splitBoostPhrases } from './language-recognition.ts';
import type { ClientMessage, RecognitionProtocol } from './recognition-socket.ts';
import { SpeakerTracker } from '../../engines/speakers/embedding.ts';
import type { RecognitionResult } from '../../engines/recognise/port.ts';
import { admit } from '../auth/gate.ts';
import type { TokenClaims, Tokens } from '../../keys/tokens.ts';
import { type Behaviour, finalDelayMs } from './behaviour.ts';
import { type Final, maxWaitingTurns, type TurnRules } from './recognition-session.ts';
import { refineText } from '../../engines/script/codeswitch.ts';
import { speakerLabel } from './wire-voices.ts';

/** The settings of a recognition socket (ASR doc, streaming step 2). */
export interface InitFrame {
  readonly token: string | undefined;
  readonly language: LanguageChoice;
  readonly sampleRateHz: number;
  readonly diarize: boolean;
  readonly numSpeakers: number | undefined;
  readonly codeswitch: boolean;
  /** At most ten. */
  readonly boostPhrases: readonly string[];
  readonly boostWeight: number;
  /** Silence after speech that ends a turn; only with `compat`, when the client asks for it. */
  readonly endpointSilenceMs: number | undefined;
}

type InitResult =
  | { readonly type: 'init'; readonly init: InitFrame }
  /** `reason` is for the client; it contains no token. */
  | { readonly type: 'refused'; readonly reason: string };

/** ASR doc, streaming: at most ten terms of boost_phrases are used. */
const maxBoostPhrases = 10;
const defaultSampleRateHz = 16_000;

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')], flagRule);

// All other fields are ignored, dtype and inactivity_timeout included.
export const initFrameSchema = z.object({
  token: z.string().nullish(),
  api_key: z.string().nullish(),
  language_code: z.string().nullish(),
  language: z.string().nullish(),
  sample_rate: z.int().min(8000).max(48_000).nullish(),
  model: z.string().nullish(),
  diarize: flag.nullish(),
  num_speakers: z.int().min(1).max(64).nullish(),
  codeswitch: flag.nullish(),
  boost_phrases: z.union([z.string(), z.array(z.string())]).nullish(),
  boost_weight: z.number().nullish(),
});

/** Range that a client's endpoint silence is limited to, in ms (reference, further silent points). */
const endpointSilence = { least: 200, most: 5000 };
const tuningSchema = z.object({ endpoint_silence_ms: z.number().nullish() });

/**
 * @param text the first text frame, as received
 * @param compat reads `endpoint_silence_ms`, which the documents ignore
 */
export function readInitFrame(text: string, compat = false): InitResult {
  const raw = parseJson(text);
  if (raw === undefined) return { type: 'refused', reason: 'The first frame must be JSON' };
  const result = (compat ? initFrameSchema.extend(tuningSchema.shape) : initFrameSchema).safeParse(raw);
  if (!result.success) {
    return { type: 'refused', reason: firstProblem(result.error, 'The first frame must be a JSON object') };
  }
  const frame = result.data;
  const word = frame.language_code ?? frame.language ?? undefined;
  const language = chooseLanguage(word);
  if (language === undefined) return { type: 'refused', reason: unsupportedLanguage(word ?? '') };
  return {
    type: 'init',
    init: {
      // `api_key` is an alias for the token: an API key in it is refused as an invalid token.
      token: frame.token ?? frame.api_key ?? undefined,
      language,
      sampleRateHz: frame.sample_rate ?? defaultSampleRateHz,
      diarize: frame.diarize ?? false,
      numSpeakers: frame.num_speakers ?? undefined,
      codeswitch: frame.codeswitch ?? false,
      boostPhrases: splitBoostPhrases(frame.boost_phrases ?? []).slice(0, maxBoostPhrases),
      boostWeight: frame.boost_weight ?? 10,
      endpointSilenceMs: compat ? endpointSilenceOf(raw) : undefined,
    },
  };
}

function endpointSilenceOf(raw: unknown): number | undefined {
  const asked = tuningSchema.parse(raw).endpoint_silence_ms ?? undefined;
  return asked === undefined ? undefined : Math.max(endpointSilence.least, Math.min(endpointSilence.most, asked));
}

const typeSchema = z.object({ type: z.string() });

/** Reads a text frame after `ready`. @param compat accepts the commands also in any case and as JSON */
function readRealtimeCommand(text: string, compat: boolean): ClientMessage {
  const word = compat ? (jsonType(text) ?? text.trim().toLowerCase()) : text;
  return word === 'commit' || word === 'end' ? { type: word } : { type: 'refused', reason: unknownText(text) };
}

/** The error for an unknown text frame; of the frame it shows the type only. */
function unknownText(text: string): string {
  const type = jsonType(text);
  if (type === undefined) return 'Text frames after ready must be commit or end';
  return `Unknown message type ${JSON.stringify(type.slice(0, 40))}: text frames after ready are commit or end`;
}

function jsonType(text: string): string | undefined {
  return typeSchema.safeParse(parseJson(text)).data?.type;
}

/** Numbers in the events of both addresses. */
export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
export const time = z.number().min(0);

const finalFields = {
  seg: count,
  text: z.string(),
  /** Since `ready`. */
  elapsed_ms: time,
  /** Absent when nothing was recognised. */
  language: z.string().exactOptional(),
  /** Seconds of the session's audio. */
  start: time,
  end: time,
  /** Only in a session with diarization; null when unknown. */
  speaker: z.string().nullable().exactOptional(),
  /** True on the last final of a commit; absent in profiles without it. */
  end_of_utterance: z.boolean().exactOptional(),
};

/** The events of a socket, as sent and as described. */
export const realtimeEvents = {
  ready: z.strictObject({
    type: z.literal('ready'),
    session_id: z.string(),
    /** `auto` when it is to be detected. */
    language: z.string(),
    sample_rate: count,
    diarize: z.boolean(),
    num_speakers: count.exactOptional(),
    codeswitch: z.boolean(),
    /** As applied; only with `compat`, when the client asked for it. */
    endpoint_silence_ms: count.exactOptional(),
    /** What was asked for and will not be done; absent when empty. */
    warnings: z.array(z.string()).exactOptional(),
  }),
  partial: z.strictObject({
    type: z.literal('partial'),
    seg: count,
    /** The whole segment so far. */
    text: z.string(),
    /** The text added since the segment's last partial; all of it when it was rewritten. */
    delta: z.string(),
    elapsed_ms: time,
    language: z.string().exactOptional(),
  }),
  final: z.strictObject({ type: z.literal('final'), ...finalFields }),
  final_refined: z.strictObject({ type: z.literal('final_refined'), ...finalFields }),
  /** After the last final of a turn; only with `compat`. */
  utterance_end: z.strictObject({ type: z.literal('utterance_end'), seg: count }),
  /** `message`, the same text, only with `compat`. */
  error: z.strictObject({ type: z.literal('error'), error: z.string(), message: z.string().exactOptional() }),
};

export type RealtimeEvent = z.infer<(typeof realtimeEvents)[keyof typeof realtimeEvents]>;

/** Most speakers told apart when the client does not give a number. */
const usualSpeakers = 4;

interface RealtimeRulesOptions {
  readonly behaviour: Behaviour;
  /** Also supports the vendor's newer clients (docs/platform-clients.md). */
  readonly compat: boolean;
}

/** The turns of the primary address: ended by the client, or by the platform where the profile says so. */
export function realtimeRules(init: InitFrame, { behaviour, compat }: RealtimeRulesOptions): TurnRules<RealtimeEvent> {
  const { language, sampleRateHz: rateHz } = init;
  const speakers = init.diarize ? new SpeakerTracker({ rateHz, most: init.numSpeakers ?? usualSpeakers }) : undefined;
  let seg = 0;
  let finals = 0;
  /** Called when the result is there, since audio is kept for a while only. */
  const speakerOf = ({ text, startS, endS }: RecognitionResult): { speaker?: string | null } => {
    if (speakers === undefined) return {};
    const speaker = text === '' ? undefined : speakers.speakerOf(startS, endS);
    return { speaker: speaker === undefined ? null : speakerLabel(speaker) };
  };
  return {
    endpointSilenceMs: init.endpointSilenceMs ?? behaviour.endpointSilenceMs,
    emptyFinalEveryMs: behaviour.emptyFinalEveryMs,
    partialEveryMs: behaviour.partialEveryMs,
    repeatPartialMs: 400,
    crowded: { text: `More than ${maxWaitingTurns} finals are waiting to be sent`, countsUnsent: true },
    fault: { text: 'Injected fault: this commit fails', on: ['commit'] },
    onAudio: (pcm) => speakers?.push(pcm),
    partial: (text, before, times) => ({
      type: 'partial',
      seg,
      text,
      delta: deltaOf(before, text),
      elapsed_ms: Math.round(times.elapsedMs),
      ...(language.type === 'auto' ? {} : { language: language.language.code }),
    }),
    endTurn: (by, times) => {
      const endsUtterance = by === 'commit' || by === 'end' || (by === 'silence' && compat);
      const finalOf = (result: RecognitionResult, isLast: boolean): Final<RealtimeEvent> => {
        const { text, startS, endS } = result;
        const marks = {
          ...(text === '' ? {} : { language: result.language }),
          start: startS,
          end: endS,
          ...speakerOf(result),
          ...(behaviour.endOfUtterance ? { end_of_utterance: endsUtterance && isLast } : {}),
        };
        const number = seg++;
        return {
          text,
          delayMs: finalDelayMs(behaviour, finals++),
          events: () => {
            const about = { seg: number, text, elapsed_ms: Math.round(times.elapsedMs), ...marks };
            const refined = init.codeswitch && text !== '';
            return [
              { type: 'final', ...about },
              ...(refined ? [{ type: 'final_refined' as const, ...about, text: refineText(text) }] : []),
              ...(compat && about.end_of_utterance === true ? [{ type: 'utterance_end' as const, seg: number }] : []),
            ];
          },
        };
      };
      return (utterances) => utterances.map((result, index) => finalOf(result, index === utterances.length - 1));
    },
  };
}

interface RealtimeProtocolOptions extends RealtimeRulesOptions {
  readonly tokens: Tokens;
  /** The holder of the token in the upgrade's header; undefined without one. */
  readonly holder: TokenClaims | undefined;
}

/** The primary address (ASR doc, WebSocket /v1/realtime). */
export function realtimeProtocol(options: RealtimeProtocolOptions): RecognitionProtocol<RealtimeEvent> {
  const { tokens, holder, compat } = options;
  const ownerOf = async (token: string | undefined): Promise<string> =>
    (await admit(tokens, 'asr', token, ' with the handshake, or token in the first frame')).keyId;
  return {
    words: { message: 'frame', opening: 'init frame' },
    open: (text) => {
      const read = readInitFrame(text, compat);
      if (read.type === 'refused') return { type: 'protocol', text: read.reason };
      const { init } = read;
      const { language, sampleRateHz: rateHz, boostPhrases, boostWeight } = init;
      return {
        recognition: { language, rateHz, boostPhrases, boostWeight },
        rules: () => realtimeRules(init, options),
        owner: () => (holder !== undefined && init.token === undefined ? holder.keyId : ownerOf(init.token)),
        ready: (sessionId, warnings) => ({
          type: 'ready',
          session_id: sessionId,
          language: language.type === 'auto' ? 'auto' : language.language.code,
          sample_rate: rateHz,
          diarize: init.diarize,
          ...(init.numSpeakers === undefined ? {} : { num_speakers: init.numSpeakers }),
          codeswitch: init.codeswitch,
          ...(init.endpointSilenceMs === undefined ? {} : { endpoint_silence_ms: init.endpointSilenceMs }),
          ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
        }),
        readBytes: (bytes) => ({ type: 'audio', bytes }),
        readText: (command) => readRealtimeCommand(command, compat),
      };
    },
    error: ({ text }) => ({
      // The vendor's newer clients read the text from `message`.
      event: { type: 'error', error: text, ...(compat ? { message: text } : {}) },
      closeCode: 1008,
    }),
  };
}

/** The text added after `before`; all of it when it was rewritten. */
export function deltaOf(before: string, text: string): string {
  return text.startsWith(before) ? text.slice(before.length).trimStart() : text;
}
