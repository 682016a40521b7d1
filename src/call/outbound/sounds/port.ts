import type { AudioFormat } from '../../../audio/format.ts';
import { OffhookError } from '../../../kernel/errors.ts';

/** Audio files that bots play in their calls. */
export interface Sounds {
  /**
   * The sound at the call's rate, as loud as the voices are, in parts of a second.
   * @param folder the bot's, which no file may be outside of
   * @param source name of a file there, or an https address
   * @param format what is yielded; its rate is the call's
   * @throws SoundError, or the signal's reason
   */
  play(folder: string, source: string, format: AudioFormat, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Audio that a bot wants to be played and that cannot be: not there, not allowed, too large, or nothing that can be decoded. */
export class SoundError extends OffhookError {
  readonly code = 'OFFHOOK_SOUND';
  readonly retryable = false;
}
