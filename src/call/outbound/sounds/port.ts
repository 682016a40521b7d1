import type { AudioFormat } from '../../../audio/format.ts';
import { OffhookError } from '../../../kernel/errors.ts';

/** Audio files that bots play in their calls. */
export interface Sounds {
  /**
   * The sound in the given format, at the level of the voices, in parts of a second.
   * @param folder the bot's; files outside it are refused
   * @param source file name there, or an https address
   * @param format of the output; its rate is the call's
   * @throws SoundError, or the signal's reason
   */
  play(folder: string, source: string, format: AudioFormat, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A bot's audio that cannot be played: missing, not allowed, too large, or not decodable. */
export class SoundError extends OffhookError {
  readonly code = 'OFFHOOK_SOUND';
  readonly retryable = false;
}
