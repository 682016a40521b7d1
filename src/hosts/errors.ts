import { CarrierControlError } from '../carriers/errors.ts';
import { OrderRefusedError } from '../call/control/supervision.ts';
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

/** What a media process, or another machine, threw, as whoever asked it knows it. @param Otherwise what stands for any other error */
export function errorOf(code: string, message: string, Otherwise: typeof MediaProcessError | typeof PeerError): OffhookError {
  if (code === 'OFFHOOK_ORDER_REFUSED') return new OrderRefusedError(message);
  if (code === 'OFFHOOK_CARRIER_CONTROL') return new CarrierControlError(message, { retryable: false });
  return new Otherwise(message, { facts: { reason: code } });
}
