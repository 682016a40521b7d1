import type { Clock } from '../../kernel/clock.ts';
import { Tokens } from '../server/auth/tokens.ts';
import { ApiKeyFile, ApiKeyFileError } from './key-file.ts';
import { keyPaths } from './key-paths.ts';
import { signingKeysIn } from './signing-key-file.ts';

/**
 * Mints a token for a kept key without its secret, as the console's action next to each key does (platform doc, overview).
 * @throws ApiKeyFileError when there is no such key, or it may not mint
 */
export async function consoleToken(
  dataDir: string,
  keyId: string,
  options: { readonly lifeSeconds: number; readonly clock: Clock },
): Promise<{ token: string; expiresAtSeconds: number }> {
  const paths = keyPaths(dataDir);
  const record = new ApiKeyFile(paths.apiKeys).find(keyId);
  if (record.revokedAt !== null) throw new ApiKeyFileError(`the API key ${keyId} was revoked`);
  if (!record.hasBalance) throw new ApiKeyFileError(`the account balance of the API key ${keyId} is too low`);
  const tokens = await Tokens.create(options.clock, await signingKeysIn(paths.signingKey));
  return tokens.mint(keyId, { lifeSeconds: options.lifeSeconds });
}
