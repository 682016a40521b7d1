import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import {
  DiallingProfileError,
  attemptHistoryMs,
  loadDiallingProfile,
  parseProfile,
  SHIPPED_PROFILES,
  timingRulesSchema,
} from '../../../../src/outbound/gate/profile.ts';
import { DIALLING_FOLDER, HOUR_MS, profiles } from './dial-facts.ts';

const plain = readFileSync(`${DIALLING_FOLDER}/none.yaml`, 'utf8');

function problemsOf(yaml: string): string[] {
  try {
    parseProfile(yaml, 'own.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof DiallingProfileError)) throw error;
    return error.problems.map(({ where, message }) => `${where} ${message}`);
  }
}

describe('dialling profiles', () => {
  test.each(SHIPPED_PROFILES)('it says that counsel must confirm %s, and names a source with every rule', (name) => {
    const profile = profiles[name];
    expect(profile.notice).toMatch(/Counsel must confirm/u);
    const rules = [profile, ...profile.overlays].flatMap((set) => [...set.windows, ...set.caps, ...set.spacing, ...set.holidays]);
    const others = [...profile.consent, ...profile.lists, ...profile.callerIds, ...profile.registrations, ...profile.duties];
    for (const { source } of [...rules, ...others]) expect(source.length).toBeGreaterThan(9);
    expect(rules.length).toBeGreaterThan(0);
  });

  it('has one hash for the same rules, whatever the comments', () => {
    const { hash } = parseProfile(plain, 'a.yaml');
    expect(parseProfile(`# mine\n${plain}`, 'b.yaml').hash).toBe(hash);
    expect(parseProfile(plain.replace('21:00', '20:00'), 'b.yaml').hash).not.toBe(hash);
  });

  test.each([
    ['an unknown rule', plain.replace('windows:', 'window:'), /own\.yaml:10 no such key/u],
    ['hours over midnight', plain.replace("'21:00'", "'07:00'"), /own\.yaml:10 from has to be earlier/u],
    ['a time that is none', plain.replace("'21:00'", "'25:00'"), /own\.yaml:10 a time HH:MM/u],
    ['a rule without a source', plain.replace('    source: house rule\n', ''), /own\.yaml:\d+ is missing/u],
    ['a purpose that is none', plain.replace('service,', 'servce,'), /own\.yaml:5 allowed is promotional/u],
    [
      'an unknown list',
      `${plain}consent: [{ level: express, orAbsentFrom: dnd, source: a rule }]\n`,
      /own\.yaml:\d+ names a list/u,
    ],
  ])('it names the line of %s', (_note, yaml, expected) => {
    expect(problemsOf(yaml)).toEqual([expect.stringMatching(expected)]);
  });

  it('says which file is missing', async () => {
    await expect(loadDiallingProfile(DIALLING_FOLDER, 'mars')).rejects.toThrow(/mars\.yaml cannot be read|mars\.yaml is not/u);
  });

  it('says how far back the attempts have to reach', () => {
    const rules = timingRulesSchema.parse({
      caps: [{ most: 1, withinHours: 168, source: 'test' }],
      spacing: [{ minutes: 5, source: 'test' }],
    });
    expect(attemptHistoryMs([rules])).toBe(168 * HOUR_MS);
    expect(attemptHistoryMs([profiles.eu, ...profiles.eu.overlays])).toBe(720 * HOUR_MS);
  });
});
