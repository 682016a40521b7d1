import type { IdentifiedSpeaker } from '../../speech/asr/transcription-result.ts';
import type { Stretch } from './speech-meter.ts';
import { type Talker, union } from './measures.ts';
import { type AnalysisProfile, monoRoles } from './profile.ts';

type Turn = Stretch & { readonly speaker: string };

export interface SpeakerRole {
  readonly label: string;
  readonly role: string;
  readonly profile: IdentifiedSpeaker | undefined;
}

/**
 * Who is who on a shared channel: who was known by voice has the role of that profile, the others take the roles that are
 * left, in the order in which they are first heard. One more speaker than there are roles is `speaker-3`.
 */
export function speakerRoles(
  turns: readonly Turn[],
  identified: readonly IdentifiedSpeaker[],
  { channels, speakers }: Pick<AnalysisProfile, 'channels' | 'speakers'>,
): SpeakerRole[] {
  const labels = [...new Set(turns.toSorted((left, right) => left.startS - right.startS).map(({ speaker }) => speaker))];
  const known = labels.map((label) => {
    const profile = identified.find(({ speaker }) => speaker === label);
    return { label, profile, role: profile?.name === undefined ? undefined : speakers.roles[profile.name] };
  });
  const left = monoRoles(channels).filter((role) => known.every((each) => each.role !== role));
  return known.map(({ label, profile, role }, index) => ({
    label,
    profile,
    role: role ?? left.shift() ?? `speaker-${index + 1}`,
  }));
}

/** What each role says on a shared channel, by the recogniser's own turns. */
export function talkersOf(turns: readonly Turn[], roles: readonly SpeakerRole[], first: readonly string[]): Talker[] {
  const names = [...new Set(roles.map(({ role }) => role))];
  // In the profile's own order, as on separate channels.
  const order = [...first.filter((role) => names.includes(role)), ...names.filter((role) => !first.includes(role))];
  return order.map((role) => {
    const labels = new Set(roles.flatMap((each) => (each.role === role ? [each.label] : [])));
    return { role, stretches: union(turns.filter(({ speaker }) => labels.has(speaker))) };
  });
}
