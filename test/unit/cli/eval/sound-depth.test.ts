import { expect, it } from 'vitest';
import { SoundDepth } from '../../../../src/cli/eval/sound-depth.ts';
import { onlyLoopback } from '../../../../src/cli/eval/sound-stage.ts';

it('calls no carrier that is not simulated', () => {
  expect(() => new SoundDepth({ carrier: 'acme', bots: [] })).toThrow(
    /^evals call only simulated carriers, and "acme" is none: twilio, asterisk/u,
  );
});

it('refuses a carrier whose interface is not on this machine', () => {
  const env = { OFFHOOK_TWILIO_ACCOUNT_SID: 'AC1', OFFHOOK_TWILIO_API_URL: 'http://127.0.0.1:8080' };
  expect(() => onlyLoopback(env)).not.toThrow();
  expect(() => onlyLoopback({ ...env, OFFHOOK_TWILIO_API_URL: 'https://api.twilio.com' })).toThrow(
    'evals reach simulated carriers alone, and OFFHOOK_TWILIO_API_URL is an address elsewhere: https://api.twilio.com',
  );
  expect(() => onlyLoopback({ OFFHOOK_TWILIO_API_URL: 'http://127.0.0.1.example.com/' })).toThrow('simulated carriers alone');
});
