import { createRequire } from 'node:module';
import type * as Sdk from 'microsoft-cognitiveservices-speech-sdk';
import { errorText } from '../../../kernel/errors.ts';
import { SpeechRequestError } from '../../client/errors.ts';

const PACKAGE = 'microsoft-cognitiveservices-speech-sdk';

export type SpeechSdk = typeof Sdk;

/**
 * Loads Azure's Speech SDK, which must be installed beside Offhook to use Azure.
 * @throws SpeechRequestError when it is not installed, or cannot be loaded
 */
export function loadSdk(): SpeechSdk {
  try {
    return createRequire(import.meta.url)(PACKAGE) as SpeechSdk;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
    const why = isMissing ? `it is not installed: npm install --ignore-scripts ${PACKAGE}` : errorText(error);
    throw new SpeechRequestError(`azure recognition needs the package ${PACKAGE}: ${why}`, { cause: error });
  }
}
