import { describe, expect, it, test } from 'vitest';
import { readSpeakerProfile, registeredDate } from '../../../../src/speech/speakers/speaker-profile.ts';

describe('speaker profiles', () => {
  test.each([
    { written: '2026-03-01T10:20:30', utc: '2026-03-01T10:20:30.000Z' },
    { written: '2026-03-01T10:20:30.123456', utc: '2026-03-01T10:20:30.123Z' },
    { written: '2026-03-01 10:20:30', utc: '2026-03-01T10:20:30.000Z' },
    { written: '2026-03-01T10:20:30+05:30', utc: '2026-03-01T04:50:30.000Z' },
    { written: '2026-03-01', utc: '2026-03-01T00:00:00.000Z' },
  ])('keeps $written as it is and reads it as $utc in any zone [146]', ({ written, utc }) => {
    const zone = process.env['TZ'];
    try {
      for (const TZ of ['Asia/Kolkata', 'America/New_York']) {
        process.env['TZ'] = TZ;
        const profile = readSpeakerProfile.parse({ name: 'Asha', project: 'clinic', registered_at: written });
        expect(profile.registeredAt).toBe(written);
        expect(registeredDate(profile)?.toISOString()).toBe(utc);
      }
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  it('gives no date for what is none', () => {
    expect(registeredDate({ registeredAt: 'yesterday' })).toBeUndefined();
    expect(registeredDate({ registeredAt: undefined })).toBeUndefined();
  });
});
