import { join } from 'node:path';
import type { Attachment } from '../carriers/port.ts';
import type { LineRates } from './resampled-attachment.ts';
import { soundName } from '../dialog/port.ts';
import { BotVoice, type VoiceServices } from './outbound/bot-voice.ts';
import { type EndOfTurnListener, TurnSound } from './inbound/end-of-turn/turn-sound.ts';
import { InboundAudio } from './inbound/inbound-audio.ts';
import { EchoGuard } from './inbound/echo/echo-guard.ts';
import { OutboundAudio } from './outbound/outbound-audio.ts';
import { type DetectorParts, detectorOf } from './inbound/neural/fused-detector.ts';
import type { NoiseSuppressor } from './inbound/neural/noise-suppressor.ts';
import { recordingRule } from './control/duties.ts';
import { HeardSound } from './recording/heard-sound.ts';
import { Recording } from './recording/recording.ts';
import type { Bot } from '../config/bots.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallIdentity } from './log/call-record.ts';
import type { PlayoutLead } from './outbound/playout-pace.ts';
import type { CallLog } from './log/call-log.ts';
import type { RecordingFiles } from './recording/recording-file.ts';
import type { Ticker } from './ticker.ts';
import type { VoiceFrame } from './turn/evidence.ts';
import type { TurnEvent } from './turn/turn-state.ts';

/** Services for the audio of a call. */
export interface MediaServices extends DetectorParts, VoiceServices {
  readonly logger: Logger;
  /** A model that hears when callers have finished; undefined without one. */
  readonly endOfTurn?: EndOfTurnListener | undefined;
  /** For bots with `noiseSuppression`; undefined where none has it. */
  readonly noiseSuppressor?: NoiseSuppressor | undefined;
  readonly ticker: Pick<Ticker, 'add'>;
  /** The bot's background sound, looped; undefined for none. @param rateHz of its samples */
  readonly ambienceOf: (bot: Bot, rateHz: number) => Int16Array | undefined;
  readonly recordingsFolder: string;
  /** Writes recordings; on the calls' own thread when absent. */
  readonly recordingFiles?: RecordingFiles;
  /** How far ahead of real time audio is sent, and how it is cut and marked. */
  readonly playout: PlayoutLead;
}

/** The parts of a call that exist once its first socket has started; they outlive that socket. */
export interface Media {
  readonly outbound: OutboundAudio;
  readonly inbound: InboundAudio;
  /** Undefined without an end-of-turn model. */
  readonly turnSound: TurnSound | undefined;
  readonly voice: BotVoice;
  readonly recording: Recording | undefined;
  /** The sound of the call, for the recording and for listeners. */
  readonly sound: HeardSound;
  /** Stops everything but the recording, which still has to be written. */
  readonly stop: () => void;
  readonly startedMs: number;
  /** Rates of the first socket. */
  readonly rates: LineRates;
}

export interface MediaListener {
  /** A 20 ms frame of the line at 8 kHz, before the turns get it. */
  frame(pcm: Int16Array, frame: VoiceFrame): void;
  feed(event: TurnEvent): void;
  tick(nowMs: number): void;
  unitStarted(unitId: string, atMs: number, heardMs: number): void;
  unitWorded(unitId: string): void;
  synthesisFailed(error: unknown): void;
}

export function openMedia(
  identity: CallIdentity,
  services: MediaServices,
  attachment: Attachment,
  { timeline, voicemails }: Pick<CallLog, 'timeline' | 'voicemails'>,
  listener: MediaListener,
): Media {
  const { callId, bot } = identity;
  const { clock, logger, ambienceOf, playout, ticker } = services;
  const rates = { rateHz: attachment.rateHz, sentRateHz: attachment.speechFormat.rateHz };
  const { rateHz, sentRateHz } = rates;
  const aheadMs = playout.leadMaxMs + playout.messageMs;
  const recording = openRecording(identity, services, aheadMs, rates);
  const sound = new HeardSound(recording, aheadMs, rates);
  const echo = new EchoGuard(sentRateHz);
  const outbound = new OutboundAudio(attachment, playout, echo, {
    sound,
    ambience: ambienceOf(bot, sentRateHz),
    onStarted: (...unit) => listener.unitStarted(...unit),
    onWorded: (unitId) => listener.unitWorded(unitId),
  });
  const turnSound = services.endOfTurn && new TurnSound(services.endOfTurn, (event) => listener.feed(event));
  const inbound = new InboundAudio(detectorOf(bot, services), echo, (event) => listener.feed(event), {
    sound,
    watch(pcm, frame) {
      voicemails.frame(frame.voiced);
      turnSound?.hear(pcm, frame.atMs);
      listener.frame(pcm, frame);
    },
    rateHz,
    suppressed: bot.noiseSuppression ? services.noiseSuppressor?.open(rateHz) : undefined,
  });
  const voice = new BotVoice(bot, services, outbound, timeline, {
    synthesisFailed: (error) => listener.synthesisFailed(error),
    soundMissing: (source, error) =>
      logger.warn({ callId, bot: bot.name, sound: soundName(source), error }, 'playing a sound failed'),
  });
  const stopTicking = ticker.add((nowMs) => listener.tick(nowMs));
  const stop = (): void => {
    stopTicking();
    voice.abort();
    inbound.close();
  };
  return { outbound, inbound, turnSound, voice, recording, sound, stop, startedMs: clock.nowMs(), rates };
}

/** @param aheadMs most time between sending the bot's audio and its playout. @returns undefined where the call is not recorded */
export function openRecording(
  { callId, bot, dialog, outbound: placed, resumed }: CallIdentity,
  { clock, recordingsFolder, recordingFiles }: Pick<MediaServices, 'clock' | 'recordingsFolder' | 'recordingFiles'>,
  aheadMs: number,
  { rateHz, sentRateHz }: LineRates,
): Recording | undefined {
  const given = recordingRule(bot, placed?.duties);
  const rule = given === 'never' && dialog.takesMessages === true ? 'messages' : given;
  if (rule === 'never') return undefined;
  const earlier = resumed?.recording;
  const path = earlier?.path ?? recordingPathOf(recordingsFolder, callId, resumed?.startedAtWallMs ?? clock.wallMs());
  return new Recording(path, callId, { rule, files: recordingFiles, aheadMs, rateHz, botRateHz: sentRateHz, earlier });
}

/** Path of a call's recording. @param startedAtWallMs start of the call */
export function recordingPathOf(recordingsFolder: string, callId: string, startedAtWallMs: number): string {
  return join(recordingsFolder, new Date(startedAtWallMs).toISOString().slice(0, 10), `${callId}.wav`);
}
