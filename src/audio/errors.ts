import { OffhookError } from '../kernel/errors.ts';

/** A compressed recording is none of those that are written here, or was damaged since. */
export class CompressedAudioError extends OffhookError {
  readonly code = 'OFFHOOK_COMPRESSED_AUDIO';
  readonly retryable = false;
}

/** Audio that cannot be decoded: torn, of another kind than it says, or of a codec that nothing here reads. */
export class MediaUnreadableError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_UNREADABLE';
  readonly retryable = false;
}

/** Sound audio of a codec that only a system `ffmpeg` reads. */
export class MediaNeedsFfmpegError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_NEEDS_FFMPEG';
  readonly retryable = false;
}

/** More decoded audio than was allowed. */
export class MediaTooLongError extends OffhookError {
  readonly code = 'OFFHOOK_MEDIA_TOO_LONG';
  readonly retryable = false;
}
