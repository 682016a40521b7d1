import { OffhookError } from '../kernel/errors.ts';

/** The models folder, or a model in it, is not what is expected: the message names the folder, the file and what is expected. */
export class ModelFolderError extends OffhookError {
  readonly code = 'OFFHOOK_MODEL_FOLDER';
  readonly retryable = false;
}
