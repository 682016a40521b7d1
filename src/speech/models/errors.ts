import { OffhookError } from '../../kernel/errors.ts';

/** The models folder, or a model in it, is not what is expected: the message names the folder, the file and what is expected. */
export class ModelFolderError extends OffhookError {
  readonly code = 'OFFHOOK_MODEL_FOLDER';
  readonly retryable = false;
}

/** A model could not be fetched: no network, a host or status that was not expected, or a connection that was cut. */
export class ModelDownloadError extends OffhookError {
  readonly code = 'OFFHOOK_MODEL_DOWNLOAD';
  readonly retryable = true;
}

/** The content differs from what was published in hash or size, or is an archive that must not be unpacked. */
export class ModelContentError extends OffhookError {
  readonly code = 'OFFHOOK_MODEL_CONTENT';
  readonly retryable = false;
}
