import { join } from 'node:path';
import type { Attachment } from '../carriers/port.ts';
import { soundName } from '../dialog/port-sounds.ts';
import { BotVoice } from './bot-voice.ts';
import { Ear } from './ear.ts';
import { EchoGuard } from './echo/echo-guard.ts';
import { Line } from './line.ts';
import { detectorOf } from './neural/detector-of.ts';
import { Recording } from './recording.ts';
import type { CallIdentity, CallServices } from './services.ts';
import type { Timeline } from './timeline.ts';
import type { TurnEvent } from './turn-state.ts';

/** The parts of a call that exist once its first socket has started; they outlive that socket. */
export interface Media {
  readonly line: Line;
  readonly ear: Ear;
  readonly voice: BotVoice;
  readonly recording: Recording | undefined;
  /** Ends everything but the recording, which has still to be written. */
  readonly stop: () => void;
  readonly startedMs: number;
}

export interface MediaListener {
  feed(event: TurnEvent): void;
  tick(nowMs: number): void;
  unitStarted(unitId: string, atMs: number): void;
  synthesisFailed(error: unknown): void;
}

export function openMedia(
  { callId, bot }: CallIdentity,
  services: CallServices,
  attachment: Attachment,
  timeline: Timeline,
  listener: MediaListener,
): Media {
  const { clock, logger, ambienceOf, recordingsFolder, recordingFiles, playout, ticker } = services;
  const day = new Date(clock.wallMs()).toISOString().slice(0, 10);
  const aheadMs = playout.leadMaxMs + playout.messageMs;
  const path = join(recordingsFolder, day, `${callId}.wav`);
  const recording = bot.recording === 'never' ? undefined : new Recording(path, callId, bot.recording, recordingFiles, aheadMs);
  const echo = new EchoGuard();
  const line = new Line(attachment, playout, recording, echo, ambienceOf(bot), (unitId, atMs) =>
    listener.unitStarted(unitId, atMs),
  );
  const ear = new Ear(detectorOf(bot, services), recording, echo, (event) => listener.feed(event));
  const voice = new BotVoice(bot, services, line, timeline, {
    synthesisFailed: (error) => listener.synthesisFailed(error),
    soundMissing: (source, error) =>
      logger.warn({ callId, bot: bot.name, sound: soundName(source), error }, 'a sound could not be played'),
  });
  const stopTicking = ticker.add((nowMs) => listener.tick(nowMs));
  const stop = (): void => {
    stopTicking();
    voice.abort();
    ear.close();
  };
  return { line, ear, voice, recording, stop, startedMs: clock.nowMs() };
}
