import { z } from 'zod';

/** A voice that the platform knows by name (ASR doc, "Speaker profile"). */
export interface SpeakerProfile {
  readonly name: string;
  /** Empty when the platform names none. */
  readonly project: string;
  /** As the platform wrote it: ISO 8601 without a zone (ASR doc, "Speaker profile"). */
  readonly registeredAt: string | undefined;
}

/** A profile as the list holds it; what else the platform says of it passes by. */
export const readSpeakerProfile = z
  .looseObject({ name: z.string(), project: z.string().nullish(), registered_at: z.string().nullish().catch(undefined) })
  .transform(({ name, project, registered_at }): SpeakerProfile => ({
    name,
    project: project ?? '',
    registeredAt: registered_at ?? undefined,
  }));

/**
 * When the profile was registered. Without a zone the time is read as UTC, wherever this runs: a Date made of the text alone
 * would be hours off.
 * @returns undefined for a text that is no time
 */
export function registeredDate({ registeredAt }: Pick<SpeakerProfile, 'registeredAt'>): Date | undefined {
  if (registeredAt === undefined) return undefined;
  const iso = registeredAt.trim().replace(' ', 'T');
  const hasZone = /(?:z|[+-]\d{2}:?\d{2})$/iu.test(iso) && iso.includes('T');
  const date = new Date(hasZone || !iso.includes('T') ? iso : `${iso}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
