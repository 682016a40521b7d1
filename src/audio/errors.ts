import { OffhookError } from '../kernel/errors.ts';

/** A compressed recording that Offhook did not write, or that is damaged. */
export class CompressedAudioError extends OffhookError {
  readonly code = 'OFFHOOK_COMPRESSED_AUDIO';
  readonly retryable = false;
}

/** Audio that cannot be decoded: cut off, damaged, or not what its container says. */
export class MediaUnreadableError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_UNREADABLE';
  readonly retryable = false;
}

/** Intact audio of a codec that only a system `ffmpeg` decodes. */
export class MediaNeedsFfmpegError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_NEEDS_FFMPEG';
  readonly retryable = false;
}

/** More decoded audio than allowed. */
export class MediaTooLongError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_TOO_LONG';
  readonly retryable = false;
}
