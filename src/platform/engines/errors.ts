import { OffhookError } from '../../kernel/errors.ts';

/** The synthesizer's process died, did not start, or is waiting to be started again. */
export class SynthesisUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_SYNTHESIS_UNAVAILABLE';
  readonly retryable = true;
}

/**
 * This text cannot be spoken: an unknown voice, a language without one, or a script that the engine has no letters for.
 * Clients are shown its message: it holds no words of the engine's own.
 */
export class SynthesisRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_SYNTHESIS_REFUSED';
  readonly retryable = false;
}

/** The recogniser's worker died, or the stream is closed. */
export class RecognitionUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_RECOGNITION_UNAVAILABLE';
  readonly retryable = true;
}

/** There is no vocabulary for this language. */
export class UnknownLanguageError extends OffhookError {
  readonly code = 'OFFHOOK_RECOGNITION_LANGUAGE';
  readonly retryable = false;
}

/** A model of the user's that cannot be used: the package, a folder or a file is missing, or a file is no model. */
export class OwnModelError extends OffhookError {
  readonly code = 'OFFHOOK_OWN_MODEL';
  readonly retryable = false;
}

/** A vocabulary file that breaks its own rules: an unknown rule name, a loop, an empty phrase. */
export class VocabularyError extends OffhookError {
  readonly code = 'OFFHOOK_VOCABULARY';
  readonly retryable = false;
}
