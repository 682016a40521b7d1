import { OffhookError } from '../kernel/errors.ts';

/** A compressed recording is none of those that are written here, or was damaged since. */
export class CompressedAudioError extends OffhookError {
  readonly code = 'OFFHOOK_COMPRESSED_AUDIO';
  readonly retryable = false;
}
