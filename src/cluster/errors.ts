import { CarrierControlError } from '../carriers/errors.ts';
import { OrderRefusedError } from '../call/control/supervision.ts';
import { OffhookError } from '../kernel/errors.ts';

/** A media process did not do what it was asked: it is gone, did not come up, or failed inside. Its own log lines say why. */
export class MediaProcessError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_PROCESS';
  readonly retryable = true;
}

/** What a media process threw, as the front's own callers know it. */
export function errorOf(code: string, message: string): OffhookError {
  if (code === 'OFFHOOK_ORDER_REFUSED') return new OrderRefusedError(message);
  if (code === 'OFFHOOK_CARRIER_CONTROL') return new CarrierControlError(message, { retryable: false });
  return new MediaProcessError(message, { facts: { reason: code } });
}
