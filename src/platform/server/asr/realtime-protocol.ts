import { SpeakerTracker } from '../../engines/speakers/speaker-tracker.ts';
import type { RecognitionResult } from '../../engines/recognise/port.ts';
import { admit } from '../auth/gate.ts';
import type { TokenClaims, Tokens } from '../../keys/tokens.ts';
import { type Behaviour, finalDelayMs } from './behaviour.ts';
import { type InitFrame, readInitFrame, readRealtimeCommand } from './realtime-messages.ts';
import { type Final, maxWaitingTurns, type TurnRules } from './recognition-session.ts';
import type { RecognitionProtocol } from './recognition-socket.ts';
import { refineText } from './rewrite-words.ts';
import { speakerLabel } from './wire-voices.ts';

/** What a recognition socket sends, as it goes onto the wire (ASR doc, events; payloads from reference, 1.2). */
export type RealtimeEvent =
  | {
      readonly type: 'ready';
      readonly session_id: string;
      /** `auto` when it is to be detected. */
      readonly language: string;
      readonly sample_rate: number;
      readonly diarize: boolean;
      readonly num_speakers?: number;
      readonly codeswitch: boolean;
      /** As applied; only with `compat`, where the client asked for it. */
      readonly endpoint_silence_ms?: number;
      /** What the session was asked for and will not do; absent when there is nothing. */
      readonly warnings?: readonly string[];
    }
  | {
      readonly type: 'partial';
      readonly seg: number;
      /** The whole segment so far. */
      readonly text: string;
      /** What was added since the segment's last partial; the whole text when it was rewritten. */
      readonly delta: string;
      readonly elapsed_ms: number;
      readonly language?: string;
    }
  | FinalEvent<'final'>
  | FinalEvent<'final_refined'>
  /** After the last final of a turn; only with `compat`. */
  | { readonly type: 'utterance_end'; readonly seg: number }
  /** `message`, the same text, only with `compat`. */
  | { readonly type: 'error'; readonly error: string; readonly message?: string };

export interface FinalEvent<Type extends 'final' | 'final_refined'> {
  readonly type: Type;
  readonly seg: number;
  readonly text: string;
  /** Since `ready`. */
  readonly elapsed_ms: number;
  /** Absent where nothing was understood. */
  readonly language?: string;
  /** Seconds of the session's audio. */
  readonly start: number;
  readonly end: number;
  /** Only when the session diarizes; null is unknown. */
  readonly speaker?: string | null;
  /** True on the last final of a commit; absent where the profile does not say. */
  readonly end_of_utterance?: boolean;
}

/** Speakers that are told apart when the client does not say how many there are. */
const usualSpeakers = 4;

export interface RealtimeRulesOptions {
  readonly behaviour: Behaviour;
  /** Also takes and sends what the vendor's newer clients expect (docs/platform-clients.md). */
  readonly compat: boolean;
}

/** Turns of the primary address: the client ends them, or the platform where its behaviour says so. */
export function realtimeRules(init: InitFrame, { behaviour, compat }: RealtimeRulesOptions): TurnRules<RealtimeEvent> {
  const { language, sampleRateHz: rateHz } = init;
  const speakers = init.diarize ? new SpeakerTracker({ rateHz, most: init.numSpeakers ?? usualSpeakers }) : undefined;
  let seg = 0;
  let finals = 0;
  /** Decided as soon as the result is there: the audio is kept for a while only. */
  const speakerOf = ({ text, startS, endS }: RecognitionResult): Pick<FinalEvent<'final'>, 'speaker'> => {
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
    hear: (pcm) => speakers?.push(pcm),
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

export interface RealtimeProtocolOptions extends RealtimeRulesOptions {
  readonly tokens: Tokens;
  /** Whose token came in the header of the upgrade; undefined when there was none. */
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
        hearing: { language, rateHz, boostPhrases, boostWeight },
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
          ...(warnings.length === 0 ? {} : { warnings }),
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

/** What came after `before` in `text`; the whole text when it was rewritten. */
export function deltaOf(before: string, text: string): string {
  return text.startsWith(before) ? text.slice(before.length).trimStart() : text;
}
