import { MediaDecoder } from '../../../audio/media/media-decoder.ts';
import type { Bot } from '../../../config/bots.ts';
import { systemClock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../observability/logger.ts';
import { soundAudio } from '../sounds/sound-audio.ts';
import { findSound, readSound } from '../sounds/sound-place.ts';
import { ambientLoop } from './ambient-loop.ts';
import { madeRoom } from './made-sounds.ts';

/**
 * The rooms of these bots by name, ready to be repeated. A bot whose file cannot be used is in none, and the log says so.
 */
export async function loadAmbiences(bots: readonly Bot[], logger: Logger): Promise<ReadonlyMap<string, Int16Array>> {
  const loops = new Map<string, Int16Array>();
  for (const { name, folder, ambience } of bots) {
    if (ambience === undefined) continue;
    try {
      const { room, file, levelDb } = ambience;
      const sound = room === undefined ? await fileSound(folder, file ?? '') : madeRoom(room);
      loops.set(name, ambientLoop(sound, levelDb));
    } catch (error) {
      logger.warn({ bot: name, error }, 'ambience unavailable');
    }
  }
  return loops;
}

async function fileSound(folder: string, name: string): Promise<Int16Array> {
  const decoding = { clock: systemClock, decoder: new MediaDecoder() };
  return soundAudio(await readSound(await findSound(folder, name)), decoding);
}
