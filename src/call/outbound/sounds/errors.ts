import { OffhookError } from '../../../kernel/errors.ts';

/** Audio that a bot wants to be played and that cannot be: not there, not allowed, too large, or nothing that can be decoded. */
export class SoundError extends OffhookError {
  readonly code = 'OFFHOOK_SOUND';
  readonly retryable = false;
}
