import { OffhookError } from '../kernel/errors.ts';

/** A media process did not do what it was asked: it is gone, did not come up, or failed inside. Its own log lines say why. */
export class MediaProcessError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_PROCESS';
  readonly retryable = true;
}

/** Another machine of this gateway does not answer, or failed at what it was asked. Its own log lines say why. */
export class PeerError extends OffhookError {
  readonly code = 'OFFHOOK_PEER';
  readonly retryable = true;
}
