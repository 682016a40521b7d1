import { RequestRefused } from '../problem.ts';
import type { ApiDeps } from './api-deps.ts';

/** @throws RequestRefused with the names there are, for an analysis profile that is none of them */
export function requireKnownProfile(profiles: ApiDeps['profiles'], name: string): void {
  if (!profiles.names.includes(name))
    throw new RequestRefused(400, `There is no analysis profile ${name}; there are ${profiles.names.join(', ')}.`);
}
