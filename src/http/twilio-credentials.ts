import { devSecretsPath, ensureDevSecrets } from '../config/dev-secrets.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Logger } from '../observability/logger.ts';
import type { TwilioCredentials } from './twilio-access.ts';

/**
 * The configured auth tokens; without any, a development secret in the data folder that only this machine may use,
 * which is said in the log.
 * @throws the file system's error when the development secret cannot be made or read
 */
export function twilioCredentials(secrets: Secrets, dataDir: string, logger: Logger): TwilioCredentials {
  if (secrets.twilioAuthTokens.length > 0) return { authTokens: secrets.twilioAuthTokens, loopbackOnly: false };
  const { twilioAuthToken } = ensureDevSecrets(dataDir);
  logger.warn(
    { file: devSecretsPath(dataDir) },
    'no carrier secret is set (OFFHOOK_TWILIO_AUTH_TOKEN): using a development secret, accepted only from this machine',
  );
  return { authTokens: [twilioAuthToken], loopbackOnly: true };
}
