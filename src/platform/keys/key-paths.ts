import { join } from 'node:path';

/** Where the platform's keys are kept, below the root of everything that is kept. */
export function keyPaths(dataDir: string): { readonly apiKeys: string; readonly signingKey: string } {
  const folder = join(dataDir, 'platform');
  return { apiKeys: join(folder, 'api-keys.jsonl'), signingKey: join(folder, 'signing-key.pem') };
}
